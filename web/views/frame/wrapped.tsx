// wrapped.tsx: a path or a setup in lines that end between folders or keys, not inside a name.
import { Fragment } from 'preact';

export const Wrapped = ({ text }: { text: string }) => (
    <>
        {text.split(/(?<=[&~/])/).map((part, i) => (
            <Fragment key={i}>
                {i > 0 && <wbr />}
                {part}
            </Fragment>
        ))}
    </>
);
