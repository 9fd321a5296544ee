# kernels.awk: what is made of kernels/kernels.txt, which says how it is written:
#   awk -v make=c          kernels.def: macros, each for who defines it before including them; those of calls and
#                          cases (SMX_MAKE to SMX_BY_HAND) for kernels/digest.c
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
function spelt(text,    words, n, i, out, colon) {
    n = split(text, words, " ")
    for (i = 1; i <= n; i++) {
        colon = sub(/:$/, "", words[i]) ? ":" : ""
        if (words[i] ~ /^\$/ && !(words[i] in short)) fail(words[i] " is said nowhere above")
        out = out " " (words[i] ~ /^\$/ ? short[words[i]] : words[i]) colon
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
function bare(token) {
    sub(/^[^A-Za-z]/, "", token)
    sub(/[^A-Za-z0-9_].*$/, "", token)
    return token
}
# What a call in C is handed for the token that was read last.
function handed(token,    own, fallback) {
    own = bare(token)
    if (token ~ /^@/) return "SCRATCH(" sized(substr(token, 2)) ")"
    if (token ~ /^%/) return "TABLE(" own ", " sized(substr(token, index(token, "("))) ")"
    if (token ~ /\[/) return (token ~ /#/ ? "INTS(" : "FLOATS(") own ")"
    if (token ~ /^=/) return "SIZE(" name ", " (own == name ? "MISSING" : "SIZE(" own ", MISSING)") ")"
    fallback = match(token, /=[0-9.e-]+$/) ? substr(token, RSTART + 1) : token ~ /[:!]/ ? 0 : "MISSING"
    return (token ~ /^~/ ? "REAL(" : "SIZE(") own ", " fallback ")"
}
# f(L,p): the call, its sizes looked up; p stays.
function sized(text,    words, n, i, out) {
    n = split(text, words, /[(,)]/)
    for (i = 2; i < n; i++) out = out (i > 2 ? ", " : "") (words[i] ~ /^(p|[0-9]+)$/ ? words[i] : "SIZE(" words[i] ", MISSING)")
    return (words[1] == "" ? "" : "smx_" words[1]) "(" out ")"
}
# Where a text begins in the one string that digest.c has of them (pointers take much room in checks.wasm).
function text_at(text) {
    if (text == "") return 0
    if (!(text in texts)) {
        texts[text] = ++n_texts
        all_texts = all_texts text "\\000"
        n_texts += length(text)
    }
    return texts[text]
}
# Its arrays, and what a kernel's sizes need of its struct.
function array(head, token,    mark, own, shape, factors, i) {
    mark = token ~ /^[>+&]/ ? substr(token, 1, 1) : token ~ /#/ ? "#" : "-"
    own = bare(token)
    shape = substr(token, index(token, "[") + 1)
    sub(/\].*$/, "", shape)
    shapes[head, own] = shape
    for (i = split(shape, factors, ","); i > 0; i--)
        if (factors[i] in of_struct) own_sizes[head] = own_sizes[head] " " factors[i]
    parts[head] = parts[head] sprintf(" {'%s', %d, %d, %d},", mark, token ~ /\?/, text_at(own), text_at(shape))
    if (mark == "#") whole[head, own] = 1
    if (mark ~ /[>+&]/) outs[head] = outs[head] " " own
    if (mark == "#" || (mark != ">" && token !~ /\?/)) drawn[head] = drawn[head] " " own (mark == "#" ? "#" : "")
}
function value(text) { return text ~ /^[A-Za-z]/ ? "{" text_at(text) ", 0}" : "{0, " text "}" }
# A word of a row's cases, as kernels.txt says them: a step of digest.c.
function step(head, word,    i, n, how, own, shape, values, when) {
    when = 0
    if (match(word, /\?[a-z_]+$/)) {
        when = text_at(substr(word, RSTART + 1))
        word = substr(word, 1, RSTART - 1)
    }
    if (word == "!") word = head
    if (word in kernels) return "{RUN, " text_at(word) ", 0, " when ", {0}, {0}},"
    if (word ~ /^[A-Za-z0-9_]+=[0-9.]+$/) {
        split(word, values, "=")
        return "{SET, " text_at(values[1]) ", 0, " when ", " value(values[2]) ", {0}},"
    }
    if (word !~ /^[A-Za-z_]+(\([A-Za-z0-9.,-]+\))?(\[[A-Za-z0-9_,]+\])?$/) fail("what is '" word "'?")
    own = word
    sub(/[^A-Za-z_].*$/, "", own)
    shape = (head, own) in shapes ? shapes[head, own] : shapes[ran[head], own]
    if (match(word, /\[.*\]$/)) shape = substr(word, RSTART + 1, RLENGTH - 2)
    if (shape == "") fail(head " has no array " own)
    how = match(word, /\(.*\)/) ? substr(word, RSTART + 1, RLENGTH - 2) : 1
    n = split(how, values, ",")
    how = "UNIFORM"
    if (values[1] ~ /^(blank|zero|patterns|gaps|picks|integers|whole|closed|padded)$/) {
        how = toupper(values[1])
        for (i = 1; i < n; i++) values[i] = values[i + 1]
        if (!--n) values[n = 1] = 1
    }
    if ((head, own) in whole && how !~ /^(INTEGERS|PICKS)$/) fail(head ": " own " are whole numbers; allowed: integers, picks")
    if (n == 1) {
        values[2] = values[1]
        values[1] = 0
    }
    return "{" how ", " text_at(own) ", " text_at(shape) ", " when ", " value(values[1]) ", " value(values[2]) "},"
}
# cases SIZES = ..: STEPS -> RESULTS
function cases(head, text,    i, n, words, values, name, list, steps, outcome, given) {
    text = spelt(text)
    if ((i = index(text, " -> "))) {
        outs[head] = " " substr(text, i + 4)
        text = substr(text, 1, i - 1)
    }
    i = index(text, ": ")
    list = i ? substr(text, 1, i - 1) : text
    given = i ? substr(text, i + 2) : drawn[head]
    if (given ~ /#/) fail(head ": say which whole numbers its cases draw")
    if (!(list in lists)) {
        n = split(list, words, " ")
        if (words[2] != "=" || n < 3) fail("what are '" list "'? allowed: sizes = values values")
        lists[list] = text_at(words[1]) ", " n_values + 0 ", " (n - 2) * split(words[3], values, ",")
        macros = macros "SMX_SIZES("
        for (i = 3; i <= n; i++) macros = macros (i > 3 ? ", " : "") words[i]
        macros = macros ")\n"
        n_values += (n - 2) * split(words[3], values, ",")
    }
    n = split(given, words, " ")
    for (i = 1; i <= n; i++) if (words[i] in kernels) ran[head] = words[i]
    for (i = 1; i <= n; i++) steps = steps " " step(head, words[i])
    if (words[n] !~ /^!/) steps = steps " " step(head, "!")
    for (i = 1; i <= split(outs[head], words, " "); i++) {
        name = words[i]
        sub(/\?.*/, "", name)
        outcome = outcome sprintf(" {OUT, %d, 0, %d, {0}, {0}},", text_at(name), words[i] ~ /\?/ ? text_at(substr(words[i], index(words[i], "?") + 1)) : 0)
    }
    macros = macros sprintf("SMX_STEPS(%s {0},%s {0})\nSMX_%s(%s, %s, %d, %d)\n", steps, outcome, head in twin ? "CASES_OF_TWIN" : "CASES", head, lists[list], n_parts, n_steps)
    n_parts += gsub(/{/, "{", parts[head]) + gsub(/{/, "{", in_place[head]) + 2
    n_steps += (gsub(/{/, "{", steps) + gsub(/{/, "{", outcome)) / 3 + 2
}
# What digest.c reads of a row, once the lines under it have been read: its cases, usual ones by its sizes
# where none are said.
function finish(head,    i, n, words) {
    if (head == "") return
    if (head in by_hand) {
        macros = macros "SMX_BY_HAND(" head ")\n"
        return
    }
    n = split(makers[head], words, "\n")
    for (i = 1; i < n; i++) if (!(words[i] in said)) macros = macros (said[words[i]] = words[i] "\n")
    n = split(own_sizes[head], words, " ")
    for (i = 1; i <= n; i++)
        if (!(("size " words[i]) in said)) {
            macros = macros sprintf("SMX_SIZE_OF(%s, %s, %s)\n", words[i], last_struct[head], sized(of_struct[words[i]]))
            said["size " words[i]] = 1
        }
    if (head in twin) macros = macros sprintf("SMX_TWIN(%s, %s, (%s))\n", head, twin[head], substr(twin_hands[head], 3))
    macros = macros calls[head] sprintf("SMX_PARTS(%s {0},%s {0})\n", parts[head], in_place[head])
    if (!(head in said_cases) && !(sizes_of[head] in usual)) fail(head " has sizes" sizes_of[head] ": say its cases, or 'by hand: why'")
    cases(head, head in said_cases ? said_cases[head] : usual[sizes_of[head]])
}
function kernel(head, body,    tokens, n, i, result, returned, own, struct, place, parameters, arguments, macro, hands, made, made_first) {
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
    finish(last)
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
            makers[head] = makers[head] sprintf("SMX_MAKE(%s,%s)\n", struct, made)
            script = "}"
            struct = made = ""
        } else if (tokens[i] ~ /^[a-z0-9_]+\{$/) {
            struct = substr(tokens[i], 1, length(tokens[i]) - 1)
            script = "{"
            place = 0
            parameters = parameters ", const smx_" struct " *" struct
            arguments = arguments ", " struct
            hands = hands ", &own_" struct
            made_first = made_first sprintf(" const smx_%s own_%s = make_%s(r);", struct, struct, struct)
            last_struct[head] = struct
        } else {
            read(tokens[i])
            if (tokens[i] ~ /\[/) array(head, tokens[i])
            if (tokens[i] ~ /^[A-Za-z]+$/) sizes_of[head] = sizes_of[head] " " tokens[i]
            if (struct != "") {
                if (struct ~ /_gradients$/) sub(/^d/, "", name)
                made = made sprintf(" .%s = %s,", name, handed(tokens[i]))
                macro = sprintf("SMX_FIELD(smx_%s, %s, %d, %s)", struct, name, place++, type)
            } else if (script !~ /^[\/-]/) {
                parameters = parameters ", " type " " name
                arguments = arguments ", " name
                hands = hands ", " handed(tokens[i])
                if (tokens[i] !~ /^[@%]/) twin_hands[head] = twin_hands[head] ", " handed(tokens[i])
            }
        }
        if (macro != "" && !(macro in said)) said[macro] = fields = fields macro "\n"
        body = body " " script
    }
    if (struct != "") fail("a } is missing")
    if (returned) outs[head] = outs[head] " " substr(returned, 2)
    made_first = made_first (last_struct[head] == "" ? "" : sprintf(" const smx_%s *p = &own_%s; (void)p;", last_struct[head], last_struct[head]))
    calls[head] = sprintf("SMX_CALL(%s, %s, \"%s\", (%s),%s (void)r;)\n", head, result, substr(returned, 2), substr(hands, 3), made_first)
    own[2] = own[1] == "C" ? "SMX_KERNEL_PUSH" : "SMX_KERNEL"
    c = c sprintf("%s(%s, %s, (%s), (%s))\n", own[2], result, head, substr(parameters, 3), substr(arguments, 3))
    if (own[1] != "C") table = table sprintf("    %s: `%s%s:%s`,\n", own[1], head, returned, body)
}
function line(text,    i, words, n) {
    if (text ~ /^twin /) {
        if (text !~ /^twin (each|terms|array): /) fail("what is '" text "'? allowed: twin each, terms or array: 1 2 3")
        if (last_struct[last] != "") fail(last " is handed a struct; allowed: ulp scale: 1 2 3")
        twin[last] = substr(text, 6, index(text, ":") - 6)
        sub(/^twin/, "ulp", text)
    }
    if (text ~ /^ulp /) {
        n = split(text, words, " ")
        if (text !~ /^ulp [^"]*: [0-9.]+ [0-9.]+ [0-9.]+$/) fail("what is '" text "'? allowed: ulp scale: 1 2 3")
        i = index(text, words[n - 2] " " words[n - 1] " " words[n])
        ulp = ulp sprintf("SMX_ULP(%s, \"%s\", %s, %s, %s)\n", last, substr(text, 5, i - 7), words[n - 2], words[n - 1], words[n])
    } else if (text ~ /^in place: /) {
        n = split(substr(text, 11), words, " ")
        for (i = 1; i <= n; i++) {
            if (words[i] !~ /^[a-z]+=[a-z]+$/) fail("what is '" words[i] "'? allowed: result=argument")
            n_pair = index(words[i], "=")
            in_place[last] = in_place[last] sprintf(" {'=', 0, %d, %d},", text_at(substr(words[i], 1, n_pair - 1)), text_at(substr(words[i], n_pair + 1)))
        }
    } else if (text ~ /^cases /) {
        if (last in said_cases) fail(last " says its cases twice")
        said_cases[last] = substr(text, 7)
    } else if (text ~ /^by hand: /) {
        by_hand[last] = 1
    } else if (text ~ /^usual: /) {
        i = index(substr(text, 8), " is ")
        usual[" " substr(text, 8, i - 1)] = substr(text, 11 + i)
    } else if (text ~ /^[$][A-Z0-9_]+ = /) {
        short[substr(text, 1, index(text, " ") - 1)] = spelt(substr(text, index(text, " = ") + 3))
    } else if (text ~ /^[a-z_]+ = /) {
        i = index(text, " = ")
        n = call(substr(text, i + 3))
        name = substr(text, 1, i - 1)
        if (text ~ /[(,]p\)$/)
            of_struct[name] = substr(text, i + 3)
        else
            macros = macros sprintf("SMX_SIZE(%s, %s)\n", name, sized(substr(text, i + 3)))
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
    finish(last)
    if (make == "c") {
        print "// kernels.def: made of kernels/kernels.txt by scripts/kernels.awk"
        n = split("KERNEL FIELD STRUCT ULP TWIN SIZES SIZE SIZE_OF MAKE CALL PARTS STEPS CASES BY_HAND TEXTS", wanted, " ")
        for (i = 1; i <= n; i++) printf "#ifndef SMX_%s\n#define SMX_%s(...)\n#endif\n", wanted[i], wanted[i]
        print "#ifndef SMX_KERNEL_PUSH\n#define SMX_KERNEL_PUSH SMX_KERNEL\n#endif"
        print "#ifndef SMX_CASES_OF_TWIN\n#define SMX_CASES_OF_TWIN SMX_CASES\n#endif"
        printf "%s%s%s%sSMX_TEXTS(\"\\000%s\")\n", c, fields, ulp, macros, all_texts
        for (i = 1; i <= n; i++) print "#undef SMX_" wanted[i]
        print "#undef SMX_KERNEL_PUSH\n#undef SMX_CASES_OF_TWIN"
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
