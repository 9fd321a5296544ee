// header.tsx: the name, the four places, the choices of this browser.
import { pauseHidden } from '../../core/prefs.ts';
import { turnProjector } from './projector.tsx';
import { sheet } from './shortcuts.tsx';
import { Places } from './switcher.tsx';
import { THEMES, theme, type Theme } from '../../core/theme.ts';

export function Header() {
    return (
        <header>
            <h1>seqmix</h1>
            <Places />
            <div class="tools">
                <label class="check" title="Training pauses while this tab is hidden.">
                    <input
                        type="checkbox"
                        checked={pauseHidden.value}
                        onChange={({ currentTarget }) => (pauseHidden.value = currentTarget.checked)}
                    />
                    pause when hidden
                </label>
                <label>
                    <span>Theme</span>
                    <select
                        value={theme.value}
                        onChange={({ currentTarget }) => (theme.value = currentTarget.value as Theme)}
                    >
                        {THEMES.map((name) => (
                            <option key={name} value={name}>
                                {name}
                            </option>
                        ))}
                    </select>
                </label>
                <button
                    type="button"
                    class="quiet present"
                    title="Projector mode (f)"
                    onClick={turnProjector}
                >
                    Projector
                </button>
                <button
                    type="button"
                    class="quiet"
                    aria-label="Keyboard"
                    title="Keyboard (?)"
                    onClick={() => (sheet.value = true)}
                >
                    ?
                </button>
            </div>
        </header>
    );
}
