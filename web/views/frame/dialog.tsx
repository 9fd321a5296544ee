// dialog.tsx: a sheet over the page, open while its signal says so.
import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

interface Props {
    open: Signal<boolean>;
    title: string;
    children: ComponentChildren;
}
export function Dialog({ open, title, children }: Props) {
    const dialog = useRef<HTMLDialogElement>(null);
    const id = useId();
    useEffect(() => {
        if (!open.value) return dialog.current?.close();
        dialog.current?.showModal();
        dialog.current?.scrollTo(0, 0); // from its title, though the button below has the focus
    }, [open.value]);
    return (
        <dialog ref={dialog} aria-labelledby={id} onClose={() => (open.value = false)}>
            <h2 id={id}>{title}</h2>
            {children}
            <button type="button" onClick={() => (open.value = false)}>
                Close
            </button>
        </dialog>
    );
}
