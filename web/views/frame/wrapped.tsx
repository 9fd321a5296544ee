// wrapped.tsx: a path or an address in lines that end between folders, keys, words or answers, not inside one.
import { Fragment } from 'preact';

export const Wrapped = ({ text }: { text: string }) => (
    <>
        {text.split(/(?<=[&~/!;+])/).map((part, i) => (
            <Fragment key={i}>
                {i > 0 && <wbr />}
                {part}
            </Fragment>
        ))}
    </>
);
