# mixers.awk: model/mixers/NAME.eq, mixers that are texts, as rows of C (build/mixer_texts.def): for each
# TEXT_KEYS, TEXT_MIXER and MIXER_TEXT, which model/mixers reads. A text says of itself, above its equations:
#   # TITLE (SOURCE): HELP
#   # cost: COST
#   # defaults: KEY=VALUE&...   (perhaps: of other keys)
#   # modes: KEY=VALUE~...       (perhaps: for audits and tests; else each other word, of a number another)
# and of its keys, behind them, what a config may give: NAME = NUMBER  # LEAST to MOST: HELP  or
# NAME = WORD | WORD  # HELP, the first word being the usual one. "rare, LEAST to MOST" and "rare: HELP" are shown where all
# settings are asked for. The rest is docs/EQUATIONS.md.
# Before them comes model/settings/common.c: its keys are every config's, and no text's.
function fail(what) {
    print FILENAME ": " what >"/dev/stderr"
    failed = 1
    exit 1
}
function quoted(text) {
    gsub(/\\/, "\\\\", text)
    gsub(/"/, "\\\"", text)
    return "\"" text "\""
}
function trim(text) {
    gsub(/^[ \t]+|[ \t]+$/, "", text)
    return text
}
function close_text() {
    if (!name) return
    if (!cost) fail("no line '# cost: ...'")
    printf "TEXT_KEYS(%s, %s)\n", name, keys
    if (given_modes) modes = given_modes
    printf "TEXT_MIXER(%s, %s, %s, %s, ", name, quoted(title), quoted(help), quoted(source) (number ? " NUMBER(" quoted(number) ")" : "")
    printf "%s, %s, %s)\n", quoted(cost), defaults ? quoted(defaults) : "NULL", modes ? quoted(modes) : "NULL"
    printf "MIXER_TEXT(%s,\n%s,\n%s)\n", name, whole_text, text
}
function key(line,   is, hint, traits, least, most, whole, n, i, other, words) {
    hint = index(line, "#") ? trim(substr(line, index(line, "#") + 1)) : ""
    traits = sub(/^rare[,:] /, "", hint) ? "KEY_RARE" : "0"
    sub(/#.*/, "", line)
    is = trim(substr(line, index(line, "=") + 1))
    if (trim(substr(line, 1, index(line, "=") - 1)) in common)
        fail(trim(line) ": every config has a key of that name (model/settings/common.c); take another name")
    if (!hint) fail(line ": what the key says stands behind #")
    n = split(is, words, /[ \t]*\|[ \t]*/)
    line = trim(substr(line, 1, index(line, "=") - 1))
    if (n > 1) {
        gsub(/[ \t]*\|[ \t]*/, "|", is)
        keys = keys sprintf("TEXT_KEY_ROW(%d, \"%s\", %s, word, \"%s\", %s, 0, 0, \"%s\", %s) ", n_keys++, line, \
            is == "0|1" ? "KEY_FLAG" : "KEY_WORD", words[1], traits, is, quoted(hint))
        for (i = 2; i <= n; i++) modes = modes (modes ? "~" : "") line "=" words[i]
        is = words[1]
    } else {
        if (hint !~ /^-?[0-9.e]+ to -?[0-9.e]+: ./) fail(line ": behind # stands LEAST to MOST: HELP")
        least = hint; sub(/ to .*/, "", least)
        most = hint; sub(/^[^ ]* to /, "", most); sub(/:.*/, "", most)
        sub(/^[^:]*: /, "", hint)
        whole = (is least most) !~ /[.e-]/
        keys = keys sprintf("TEXT_KEY_ROW(%d, \"%s\", %s, %s, \"%s\", %s, %s, %s, NULL, %s) ", n_keys++, line, \
            whole ? "KEY_INT" : "KEY_REAL", whole ? "whole" : "real", is, traits, least, most, quoted(hint))
        other = is + 0 != 3 && least + 0 <= 3 && most + 0 >= 3 ? 3 : is == least ? most : least
        modes = modes (modes ? "~" : "") line "=" other
    }
    # (the first that has the key says what it is where nobody gives it)
    if (!(line in usual)) usual[line] = is
    if (usual[line] != is) defaults = defaults (defaults ? "&" : "") line "=" is
}
FILENAME ~ /common\.c$/ {
    if (match($0, /(_KEY|KEY_ROW)\("[a-z0-9_]+"/)) {
        name = substr($0, RSTART, RLENGTH - 1)
        sub(/.*"/, "", name)
        common[name] = 1
    }
    name = ""
    next
}
FNR == 1 {
    close_text()
    name = FILENAME
    sub(/.*\//, "", name)
    sub(/\.eq$/, "", name)
    n_keys = 0
    keys = defaults = modes = given_modes = text = whole_text = cost = ""
    if (!match($0, / \([^()]+\): ./) || $0 !~ /^# ./) fail("its first line must be # TITLE (SOURCE): HELP")
    title = substr($0, 3, RSTART - 3)
    source = substr($0, RSTART + 2, RLENGTH - 6)
    # (the page's module does without the paper's number)
    number = match(source, /, arXiv [0-9.]+$/) ? substr(source, RSTART) : ""
    source = substr(source, 1, length(source) - length(number))
    match($0, / \([^()]+\): ./)
    help = substr($0, RSTART + RLENGTH - 1)
    help = toupper(substr(help, 1, 1)) substr(help, 2)
}
/^# cost: / { cost = substr($0, 9) }
/^# modes: / { given_modes = substr($0, 10) }
/^# defaults: / { defaults = substr($0, 13) }
/^[A-Za-z_][A-Za-z_0-9]* = (-?[0-9.][0-9.e]*|[A-Za-z_0-9]+( \| [A-Za-z_0-9]+)+)[ \t]*(#|$)/ { key($0) }
# (once as it stands, once without comments)
{
    line = $0
    sub(/[ \t]*#.*/, "", line)
    # (an indentation of one blank, none around signs)
    match(line, /^ */)
    indent = substr("        ", 1, int((RLENGTH + 3) / 4))
    line = substr(line, RLENGTH + 1)
    gsub(/ *[=+*@,|\/-] */, "\002&\002", line)
    gsub(/\002 *| *\002/, "", line)
    line = indent line
    if (line) text = text quoted(line "\001") "\n"
    whole_text = whole_text quoted($0 "\001") "\n"
    gsub(/\001/, "\\n", text)
    gsub(/\001/, "\\n", whole_text)
}
END {
    if (failed) exit 1
    close_text()
}
