// editor.ts: the editor of a mixer's text: CodeMirror in a shadow root, whose styles are sheets of their own
// (the page's policy allows no inline style). Fetched when the view opens.
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { EditorState, StateEffect, StateField, type Extension } from '@codemirror/state';
import {
    Decoration,
    type DecorationSet,
    EditorView,
    drawSelection,
    highlightActiveLine,
    keymap,
    lineNumbers,
    placeholder,
    ViewPlugin,
    type ViewUpdate,
    WidgetType,
} from '@codemirror/view';

/** What is wrong, and where; line and column from 1. */
export interface Fault {
    line: number;
    column: number;
    sentence: string;
}
export interface Editor {
    setText(text: string): void;
    setFault(fault: Fault | null): void;
    focus(): void;
    close(): void;
}
interface Hears {
    changed(text: string): void;
    /** The word at the cursor; '': none. */
    at(word: string): void;
}

// ---- The fault under its place ---------------------------------------------------------------------------
const setFault = StateEffect.define<Fault | null>();
class Sentence extends WidgetType {
    readonly fault: Fault;
    constructor(fault: Fault) {
        super();
        this.fault = fault;
    }
    override eq(other: Sentence): boolean {
        return other.fault.sentence === this.fault.sentence && other.fault.column === this.fault.column;
    }
    toDOM(): HTMLElement {
        const line = document.createElement('div');
        line.className = 'fault';
        line.style.setProperty('--column', String(Math.min(this.fault.column, 40) - 1));
        line.textContent = `↑ ${this.fault.sentence}`;
        return line;
    }
}
function marked(state: EditorState, fault: Fault): DecorationSet {
    const line = state.doc.line(Math.min(Math.max(1, fault.line), state.doc.lines));
    const from = Math.min(line.from + Math.max(0, fault.column - 1), line.to);
    const word = /^(\w+|.)/.exec(state.sliceDoc(from, line.to))?.[0].length ?? 0;
    const sentence = Decoration.widget({ widget: new Sentence(fault), block: true, side: 1 }).range(line.to);
    const place = word ? [Decoration.mark({ class: 'wrong' }).range(from, from + word)] : [];
    return Decoration.set([...place, sentence], true);
}
const faults = StateField.define<DecorationSet>({
    create: () => Decoration.none,
    update(now, change) {
        let next = now.map(change.changes);
        for (const effect of change.effects)
            if (effect.is(setFault))
                next = effect.value ? marked(change.state, effect.value) : Decoration.none;
        return next;
    },
    provide: (field) => EditorView.decorations.from(field),
});

// ---- Words in their colours ------------------------------------------------------------------------------
const WORDS = /#.*|[A-Za-z_]\w*|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/g;
/** Whether the word at `index` belongs to the language: what begins a scan, a repeat, an if, and what stands
 *  behind. */
function isKeyword(word: string, text: string, index: number): boolean {
    const line = text.slice(text.lastIndexOf('\n', index - 1) + 1);
    const [, first = ''] = /^[ \t]*(scan|repeat|if)[ \t]+[A-Za-z_]/.exec(line) ?? [];
    const before = text.slice(text.lastIndexOf('\n', index - 1) + 1, index);
    if (!first) return false;
    if (before.trim() === '') return word === first;
    if (before.includes('#')) return false;
    if (first === 'scan') return word === 'over' || word === 'by' || word === 'shared' || word === 'grouped';
    return first === 'repeat' && word === 'in';
}
function colours(functions: ReadonlySet<string>): Extension {
    const keyword = Decoration.mark({ class: 'keyword' });
    const note = Decoration.mark({ class: 'note' });
    const call = Decoration.mark({ class: 'call' });
    const figure = Decoration.mark({ class: 'figure' });
    const look = (view: EditorView): DecorationSet => {
        const found = [];
        for (const { from, to } of view.visibleRanges) {
            const text = view.state.sliceDoc(from, to);
            for (const { 0: word, index } of text.matchAll(WORDS)) {
                const mark = word.startsWith('#')
                    ? note
                    : /^[\d.]/.test(word)
                      ? figure
                      : isKeyword(word, text, index)
                        ? keyword
                        : functions.has(word) && /^\s*\(/.test(text.slice(index + word.length))
                          ? call
                          : null;
                if (mark) found.push(mark.range(from + index, from + index + word.length));
            }
        }
        return Decoration.set(found);
    };
    return ViewPlugin.fromClass(
        class {
            decorations: DecorationSet;
            constructor(view: EditorView) {
                this.decorations = look(view);
            }
            update(update: ViewUpdate) {
                if (update.docChanged || update.viewportChanged) this.decorations = look(update.view);
            }
        },
        { decorations: ({ decorations }) => decorations },
    );
}

/** The word that the cursor is in, or behind. */
function wordAt(state: EditorState): string {
    const { head } = state.selection.main;
    const line = state.doc.lineAt(head);
    for (const { 0: word, index } of line.text.matchAll(WORDS)) {
        const from = line.from + index;
        if (from <= head && head <= from + word.length) return word.startsWith('#') ? '' : word;
    }
    return '';
}

const theme = EditorView.theme({
    '&': { color: 'var(--ink)', backgroundColor: 'var(--paper)', fontSize: 'var(--small)' },
    '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '1px' },
    '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5', minHeight: '12em', maxHeight: '60vh' },
    // (As tall as what scrolls: a press below the text finds its last line.)
    '.cm-content': { caretColor: 'var(--ink)', minHeight: '12em' },
    '.cm-gutters': {
        color: 'var(--ink-2)',
        backgroundColor: 'var(--tint)',
        borderRight: '1px solid var(--rule)',
    },
    '.cm-activeLine, .cm-activeLineGutter': {
        backgroundColor: 'color-mix(in srgb, var(--tint) 60%, transparent)',
    },
    '.cm-cursor': { borderLeftColor: 'var(--ink)' },
    '.cm-placeholder': { color: 'var(--ink-2)' },
    '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
        backgroundColor: 'color-mix(in srgb, var(--accent) 30%, transparent) !important',
    },
    '.note': { color: 'var(--ink-2)', fontStyle: 'italic' },
    '.call': { fontWeight: '650' },
    '.keyword': { fontWeight: '650', color: 'var(--run-1)' },
    '.wrong': { textDecoration: 'underline wavy var(--wrong)', textUnderlineOffset: '3px' },
    '.fault': {
        color: 'var(--wrong)',
        fontFamily: 'var(--sans)',
        whiteSpace: 'pre-wrap',
        padding: '0 0.5rem 0.25rem 6px',
        marginLeft: 'min(calc(var(--column) * 1ch), 40%)',
    },
});

/** An editor in `host`, called `label`. */
export function openEditor(
    host: HTMLElement,
    label: string,
    text: string,
    functions: ReadonlySet<string>,
    hears: Hears,
): Editor {
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
    let told = ''; // of the word at the cursor
    let given = false; // the text comes from outside
    const listening = EditorView.updateListener.of((update) => {
        if (update.docChanged && !given) hears.changed(update.state.doc.toString());
        if (update.docChanged || update.selectionSet) {
            const word = wordAt(update.state);
            if (word !== told) hears.at((told = word));
        }
    });
    const view = new EditorView({
        root,
        parent: root,
        doc: text,
        extensions: [
            lineNumbers(),
            history(),
            drawSelection(),
            highlightActiveLine(),
            EditorView.lineWrapping,
            placeholder('y = attention(x @ w_q, x @ w_k, x @ w_v) @ w_o'),
            // (Tab leaves the editor: who works by keyboard has to get out again.)
            keymap.of([...defaultKeymap, ...historyKeymap]),
            EditorView.contentAttributes.of({
                'aria-label': label,
                spellcheck: 'false',
                autocorrect: 'off',
                autocapitalize: 'off',
            }),
            colours(functions),
            faults,
            theme,
            listening,
        ],
    });
    return {
        setText(next) {
            if (next === view.state.doc.toString()) return;
            given = true;
            view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } });
            given = false;
        },
        setFault: (fault) => view.dispatch({ effects: setFault.of(fault) }),
        focus: () => view.focus(),
        close: () => view.destroy(),
    };
}
