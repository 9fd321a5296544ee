# kernels.awk: what is made of kernels/kernels.txt, which says how it is written:
#   awk -v make=c          kernels.def: macros, each for who defines it before including them
#   awk -v make=table      wasm/loader/kernel_table.ts; make=marks: its lines with + where the table has it
#   awk -v make=exports    what a WebAssembly module exports: what the table names, the functions of
#                          wasm/exports.c, which comes next, and `also`; but nothing that is defined in the
#                          sources after that, which the module lacks, or is in `but`
function fail(text) {
    if (!failed) printf "%s: %s\n", at, text > "/dev/stderr"
    exit failed = 1
}
function camel(text,    out) {
    while (match(text, /_[a-z]/)) {
        out = out substr(text, 1, RSTART - 1) toupper(substr(text, RSTART + 1, 1))
        text = substr(text, RSTART + 2)
    }
    return out text
}
function exports(name) { if (!(name in exported)) order[exported[name] = ++count] = name }
# With what $NAME stands for in its place.
function spelt(text,    words, n, i, out) {
    n = split(text, words, " ")
    for (i = 1; i <= n; i++) {
        if (words[i] ~ /^\$/ && !(words[i] in short)) fail(words[i] " is said nowhere above")
        out = out " " (words[i] ~ /^\$/ ? short[words[i]] : words[i])
    }
    return substr(out, 2)
}
# scan_state_floats(L,D,S): the function is exported.
function call(text,    name) {
    if (text !~ /^[a-z0-9_]+\([A-Za-z0-9_,]+\)$/) fail("what is '" text "'? allowed: function(size,size)")
    name = substr(text, 1, index(text, "(") - 1)
    exports("smx_" name)
    return name
}
# A token: its type and name in C into `type` and `name`, what JavaScript reads into `script`.
function read(token,    open) {
    if (token ~ /^[@%]/) {
        open = index(token, "(")
        name = call(substr(token, 2))
        if (token ~ /^%/) exports("smx_" name "_floats")
        type = token ~ /^@/ ? "void *" : "const float *"
        name = token ~ /^@/ ? "scratch" : "table"
        script = substr(token, 1, open - 1) camel(substr(token, open))
        return
    }
    if (token !~ /^[>+&~=\/-]?[A-Za-z][A-Za-z0-9_]*(\.[a-z]+)?[#*]?[?]?(\[[A-Za-z0-9_,]+\])?!?(=[A-Za-z0-9.-]+)?(:[a-z|]+)?$/)
        fail("what is '" token "'?")
    name = token
    if (token ~ /^=?[A-Za-z]+\.[a-z]+/) {
        sub(/^=?[A-Za-z]+\./, "", name)
        sub(/\.[a-z]+/, "", token)
    }
    sub(/^[^A-Za-z]/, "", name)
    sub(/[^A-Za-z0-9_].*$/, "", name)
    script = camel(token)
    if (make != "marks") sub(/^[+]/, ">", script) # JavaScript hands zeros
    if (token ~ /\[/) {
        type = token ~ /#/ ? "int32_t *" : "float *"
        if (token ~ /^[A-Za-z]/) type = "const " type
        if (token ~ /\*/) type = type "const *"
    } else
        type = token ~ /^~/ ? "float" : token ~ /[:!]/ ? "int" : token ~ /#/ ? "unsigned" : "size_t"
}
function kernel(head, body,    tokens, n, i, result, returned, own, struct, place, parameters, arguments, macro) {
    n = split(spelt(body), tokens, " ")
    result = "void"
    if (match(head, / > (float|double|size_t) [a-z]+$/)) {
        split(substr(head, RSTART + 3), own, " ")
        result = own[1]
        returned = ">" own[2]
        head = substr(head, 1, RSTART - 1)
    }
    own[1] = ""
    if (match(head, / \([A-Za-z]+\)$/)) {
        own[1] = substr(head, RSTART + 2, RLENGTH - 3)
        head = substr(head, 1, RSTART - 1)
    }
    if (head !~ /^[a-z][a-z0-9_]*$/) fail("what kernel is '" head "'?")
    if (head in kernels) fail(head " is said twice")
    kernels[last = head] = 1
    exports("smx_" head)
    if (own[1] == "") {
        own[1] = head
        sub(/_fwd$/, "", own[1])
        sub(/_bwd$/, "_backward", own[1])
        own[1] = camel(own[1])
    }
    body = ""
    for (i = 1; i <= n; i++) {
        macro = ""
        if (tokens[i] == "}") {
            if (place) macro = sprintf("SMX_STRUCT(smx_%s, %d)", struct, place)
            script = "}"
            struct = ""
        } else if (tokens[i] ~ /^[a-z0-9_]+\{$/) {
            struct = substr(tokens[i], 1, length(tokens[i]) - 1)
            script = "{"
            place = 0
            parameters = parameters ", const smx_" struct " *" struct
            arguments = arguments ", " struct
        } else {
            read(tokens[i])
            if (struct != "") {
                if (struct ~ /_gradients$/) sub(/^d/, "", name)
                macro = sprintf("SMX_FIELD(smx_%s, %s, %d, %s)", struct, name, place++, type)
            } else if (script !~ /^[\/-]/) {
                parameters = parameters ", " type " " name
                arguments = arguments ", " name
            }
        }
        if (macro != "" && !(macro in said)) said[macro] = fields = fields macro "\n"
        body = body " " script
    }
    if (struct != "") fail("a } is missing")
    own[2] = own[1] == "C" ? "SMX_KERNEL_PUSH" : "SMX_KERNEL"
    c = c sprintf("%s(%s, %s, (%s), (%s))\n", own[2], result, head, substr(parameters, 3), substr(arguments, 3))
    if (own[1] != "C") table = table sprintf("    %s: `%s%s:%s`,\n", own[1], head, returned, body)
}
function line(text,    i, words, n) {
    if (text ~ /^ulp /) {
        n = split(text, words, " ")
        if (text !~ /^ulp [^"]*: [0-9.]+ [0-9.]+ [0-9.]+$/) fail("what is '" text "'? allowed: ulp scale: 1 2 3")
        i = index(text, words[n - 2] " " words[n - 1] " " words[n])
        ulp = ulp sprintf("SMX_ULP(%s, \"%s\", %s, %s, %s)\n", last, substr(text, 5, i - 7), words[n - 2], words[n - 1], words[n])
    } else if (text ~ /^[$][A-Z0-9_]+ = /) {
        short[substr(text, 1, index(text, " ") - 1)] = spelt(substr(text, index(text, " = ") + 3))
    } else if (text ~ /^[a-z_]+ = /) {
        i = index(text, " = ")
        n = call(substr(text, i + 3))
        if (text !~ /[(,]p\)$/)
            sizes = sizes sprintf("    %s: '%s%s',\n", camel(substr(text, 1, i - 1)), n, camel(substr(text, index(text, "("))))
    } else if ((i = index(text, ": ")))
        kernel(substr(text, 1, i - 1), substr(text, i + 2))
    else if (text != "") fail("what is '" text "'?")
}
function next_line() {
    line(pending)
    pending = ""
}

FNR == 1 { files++ }
files == 1 && /^        / { sub(/^ +/, " "); pending = pending $0; next } # goes on
files == 1 {
    next_line()
    at = FILENAME ":" FNR
    if ($0 !~ /^#/) { pending = $0; sub(/^ +/, "", pending) }
    next
}
FNR == 1 { next_line() }
files == 2 && /^[a-z].*[ *]lab_[a-z_]+\(/ && !/^static/ {
    match($0, /lab_[a-z_]+\(/)
    exports(substr($0, RSTART, RLENGTH - 1))
}
files > 2 && /^(SMX_COPY\(|[a-z].*[ *]smx_[a-z0-9_]+\()/ && !/^static/ && !/;$/ {
    match($0, /, [a-z0-9_]+\)|smx_[a-z0-9_]+\(/)
    name = substr($0, RSTART, RLENGTH - 1)
    sub(/^, /, "smx_", name)
    lacks[name] = 1
}

END {
    if (failed) exit 1
    next_line()
    if (make == "c") {
        print "// kernels.def: made of kernels/kernels.txt by scripts/kernels.awk"
        split("KERNEL FIELD STRUCT ULP", wanted, " ")
        for (i = 1; i <= 4; i++) printf "#ifndef SMX_%s\n#define SMX_%s(...)\n#endif\n", wanted[i], wanted[i]
        print "#ifndef SMX_KERNEL_PUSH\n#define SMX_KERNEL_PUSH SMX_KERNEL\n#endif"
        printf "%s%s%s", c, fields, ulp
        for (i = 1; i <= 4; i++) print "#undef SMX_" wanted[i]
        print "#undef SMX_KERNEL_PUSH"
    } else if (make == "marks") {
        printf "%s", table
    } else if (make == "table") {
        print "// kernel_table.ts: written by `make` from kernels/kernels.txt (scripts/kernels.awk); change that. The"
        print "// kernels' arguments, and the sizes that the module computes."
        printf "export const TABLE = {\n%s} as const;\nexport const COMPUTED: Record<string, string> = {\n%s};\n", table, sizes
    } else {
        for (i = split(also, wanted, " "); i > 0; i--) exports(wanted[i])
        for (i = split(but, wanted, " "); i > 0; i--) lacks[wanted[i]] = 1
        for (i = 1; i <= count; i++) if (!(order[i] in lacks)) print "_" order[i]
    }
}
