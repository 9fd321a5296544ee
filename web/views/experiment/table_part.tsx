// table_part.tsx: what belongs to tables, fetched when a run reads one, or one is dropped on the page.
import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import type { Entry } from '../../state/entry.ts';
import { runs } from '../../state/page.ts';

const part = signal<ComponentType<{ entry: Entry }> | null>(null);

export function TablePart() {
    const entry = runs.value.find(({ values }) => values['task'] === 'table');
    if (!entry) return null;
    const View = part.value;
    if (View) return <View entry={entry} />;
    // (not among what is being drawn: fetching takes milliseconds of its own)
    setTimeout(() => void import('./own_table.tsx').then((loaded) => (part.value = loaded.default)));
    return null;
}

/** A table may be dropped anywhere. */
export function listenForTables(): void {
    const isTable = (name: string) => /\.(csv|tsv)(\.gz)?$/i.test(name);
    window.addEventListener('dragover', (event) => {
        if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
    });
    window.addEventListener('drop', (event) => {
        if (event.defaultPrevented) return;
        event.preventDefault(); // else the browser would leave the page for the file
        const file = [...(event.dataTransfer?.files ?? [])].find(({ name }) => isTable(name));
        if (file) void import('../../state/views/own_table.ts').then(({ takeTable }) => takeTable(file));
    });
}
