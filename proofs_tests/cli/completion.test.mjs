// completion.test.mjs: `seqmix completion SHELL` in the shells themselves: each command, each of its options
// and the words that an option takes, as `help --json` has them.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';

const program = resolve(process.env.SEQMIX ?? 'build/seqmix');
function run(command, ...args) {
    const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', timeout: 600000 });
    assert.ok(!error, String(error));
    assert.equal(status, 0, `${command} ${args[0]}: ${stderr}`);
    return stdout;
}
const folder = mkdtempSync(join(tmpdir(), 'seqmix-completion-'));
after(() => rmSync(folder, { recursive: true }));
const scripts = Object.fromEntries(
    ['bash', 'zsh', 'fish'].map((shell) => {
        const path = join(folder, shell);
        writeFileSync(path, run(program, 'completion', shell));
        return [shell, path];
    }),
);
const { commands } = JSON.parse(run(program, 'help', '--json'));
const has = (shell) => spawnSync(shell, ['-c', 'true']).status === 0;
const words = (text) => text.trim().split(/\s+/).sort();
const optionsOf = ({ options }) => ['--help', ...options.map(({ name }) => name)].sort();

test('bash completes commands, options, words of options and names for help', () => {
    const complete = (...typed) =>
        words(
            run(
                'bash',
                '-c',
                `. "$1"; shift; COMP_WORDS=(seqmix "$@"); COMP_CWORD=$#; compopt() { :; }; _seqmix; echo "\${COMPREPLY[@]}"`,
                'bash',
                scripts.bash,
                ...typed,
            ),
        );
    assert.deepEqual(complete(''), commands.map(({ name }) => name).sort());
    assert.deepEqual(complete('tr'), ['train']);
    for (const command of commands)
        assert.deepEqual(complete(command.name, '-'), optionsOf(command), command.name);
    assert.deepEqual(complete('train', 'mixer=cat', '--save-'), ['--save-every']);
    assert.deepEqual(complete('help', 'deltan'), ['deltanet']);
    const worded = commands.flatMap(({ name, options }) =>
        options.filter(({ argument }) => /^[a-z0-9_]+(\|[a-z0-9_]+)+$/.test(argument)).map((o) => [name, o]),
    );
    assert.ok(worded.length > 0);
    for (const [name, { name: option, argument }] of worded)
        assert.deepEqual(complete(name, option, ''), argument.split('|').sort(), `${name} ${option}`);
    assert.match(run('bash', '-c', `. "${scripts.bash}"; complete -p seqmix`), /-F _seqmix seqmix/);
});

test('zsh reads its script and completes', { skip: has('zsh') ? false : 'needs zsh' }, () => {
    // _arguments and _describe need a terminal; what they are given is looked at instead.
    const given = (...typed) =>
        run(
            'zsh',
            '-fc',
            `_describe() { print -l -- "\${(@)commands}"; }; _arguments() { print -l -- "$@"; }; compdef() { :; }
            script=$1; shift; . "$script"; words=(seqmix "$@"); CURRENT=$#words; _seqmix`,
            'zsh',
            scripts.zsh,
            ...typed,
        )
            .trim()
            .split('\n');
    assert.deepEqual(
        given(''),
        commands.map(({ name, help }) => `${name}:${help}`),
    );
    for (const command of commands)
        assert.deepEqual(
            given(command.name, '')
                .map((spec) => spec.match(/^\*?(--[a-z0-9=-]+)\[/)?.[1])
                .filter(Boolean)
                .sort(),
            optionsOf(command),
            command.name,
        );
});

test('fish completes commands and options', { skip: has('fish') ? false : 'needs fish' }, () => {
    const complete = (line) =>
        run('fish', '--no-config', '-c', `source ${scripts.fish}; complete -C '${line}'`)
            .trim()
            .split('\n')
            .map((suggestion) => suggestion.split('\t'));
    const offered = complete('seqmix ');
    for (const { name, help } of commands)
        assert.deepEqual(
            offered.find(([word]) => word === name),
            [name, help],
        );
    for (const command of commands)
        assert.deepEqual(
            complete(`seqmix ${command.name} --`)
                .map(([word]) => word)
                .sort(),
            optionsOf(command),
            command.name,
        );
    assert.ok(complete('seqmix help delta').some(([word]) => word === 'deltanet'));
});

test('another shell is refused in a sentence', () => {
    const { status, stderr } = spawnSync(program, ['completion', 'tcsh'], { encoding: 'utf8' });
    assert.equal(status, 2);
    assert.match(stderr, /there is none for 'tcsh'; it must be bash, zsh or fish/);
});
