// header.tsx: the name, what this is, the lessons, the theme.
import { lab, openLesson } from '../state.ts';
import { THEMES, theme, type Theme } from '../theme.ts';

export function Header() {
    const { presets } = lab().config;
    return (
        <header>
            <h1>seqmix</h1>
            <p class="claim">Sequence mixers, trained side by side. Which of them can look things up?</p>
            <div class="tools">
                {presets.length > 0 && (
                    <label>
                        <span>Lesson</span>
                        <select
                            onChange={({ currentTarget }) => {
                                const name = currentTarget.value;
                                currentTarget.value = '';
                                if (name) openLesson(`preset=${name}`);
                            }}
                        >
                            <option value="">choose …</option>
                            {presets.map(({ name, title }) => (
                                <option key={name} value={name}>
                                    {title}
                                </option>
                            ))}
                        </select>
                    </label>
                )}
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
            </div>
        </header>
    );
}
