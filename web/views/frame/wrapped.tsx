// wrapped.tsx: a path or an address whose lines end between folders, keys, words or answers.
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
