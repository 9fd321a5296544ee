// errata.tsx: a text in which each erratum that it names leads to it, in About.
import type { ComponentChildren } from 'preact';
import { addressOf } from '../../state/address.ts';
import { openView } from '../../state/viewing.ts';

/** What About's erratum is called in the document, and `detail` of the address that leads to it. */
export const placeOf = (number: number | string) => `erratum-${number}`;

function Erratum({ number, children }: { number: string; children: ComponentChildren }) {
    const detail = placeOf(number);
    return (
        <a
            href={addressOf({ view: 'about', detail })}
            onClick={(event) => {
                if (event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
                event.preventDefault();
                openView('about', detail);
            }}
        >
            {children}
        </a>
    );
}

/** "erratum 4" is a link, of "errata 11 and 22" each number. */
export function Errata({ children: text }: { children: string }) {
    const parts = text.split(/\b([Ee]rrat(?:um|a)\s+\d+(?:(?:, and |, | and )\d+)*)/);
    return (
        <>
            {parts.map((part, i) => {
                if (i % 2 === 0) return part;
                const pieces = part.split(/(\d+)/);
                if (pieces.length === 3)
                    return (
                        <Erratum key={i} number={pieces[1]!}>
                            {part}
                        </Erratum>
                    );
                return pieces.map((piece, j) =>
                    j % 2 ? (
                        <Erratum key={`${i} ${j}`} number={piece}>
                            {piece}
                        </Erratum>
                    ) : (
                        piece
                    ),
                );
            })}
        </>
    );
}
