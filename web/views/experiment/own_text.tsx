// own_text.tsx: handing over a text for the task of the next character.
import { useState } from 'preact/hooks';
import { counted } from '../../core/figures.ts';
import { pick } from '../../core/files.ts';
import type { Entry } from '../../state/entry.ts';
import { runs } from '../../state/page.ts';
import { restart, setKey } from '../../state/roster.ts';
import { forgetText, heldText, takeText } from '../../state/views/own_text.ts';

export function OwnText({ first }: { first: Entry }) {
    const [problem, tell] = useState('');
    const own = first.values['text'] !== 'sample';
    const accept = async ([file]: File[]) => {
        if (!file) return;
        try {
            const taken = await takeText(file, first);
            if ('problem' in taken) return tell(`${file.name} was not taken: ${taken.problem}`);
            const { name } = taken;
            tell('');
            if (first.values['text'] !== name) setKey(first, 'text', name);
            // Another text of that name.
            else restart(runs.value.filter(({ values }) => values['text'] === name));
        } catch (error) {
            tell(`${file.name} cannot be read: ${(error as Error).message}`);
        }
    };
    return (
        <>
            <p class="say">
                {own && heldText.value?.name === first.values['text']
                    ? `${counted(heldText.value!.bytes.length)} bytes of ${heldText.value!.name}, the last tenth held out.`
                    : 'Use any text file, plain or .gz. It stays in this browser: nothing is sent anywhere.'}
            </p>
            {problem && (
                <p class="why" role="alert">
                    {problem}.
                </p>
            )}
            <div class="row">
                <button type="button" onClick={() => void pick('').then(accept)}>
                    Choose a text …
                </button>
                {own && (
                    <button
                        type="button"
                        onClick={() => {
                            setKey(first, 'text', null);
                            forgetText();
                        }}
                    >
                        Back to the embedded one
                    </button>
                )}
            </div>
        </>
    );
}
