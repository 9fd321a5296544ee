// operations.h: what is told of the operations of the language (model/equations), from their table.
#ifndef SMX_CLI_OPERATIONS_H
#define SMX_CLI_OPERATIONS_H

int operation_help(const char *name); // prints one, or `scan`; 0 where there is none of that name
void operations_names(void);          // " linear add mul ..."
void operations_table(void);          // a Markdown table, one a row
void operations_markdown(void);       // a section each
void operations_json(void);

#endif
