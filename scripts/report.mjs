// report.mjs: bundles web/report into cli/commands/grid/report_page.inc, the page that `seqmix report` fills.
//   node scripts/report.mjs [--check]    --check writes nothing and fails where the header is not current
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';

const root = join(import.meta.dirname, '..');
const header = join(root, 'cli/commands/grid/report_page.inc');
const { output } = (
    await build({
        root,
        configFile: false,
        logLevel: 'error',
        build: {
            write: false,
            minify: true,
            target: 'es2022',
            cssTarget: ['chrome105', 'firefox110', 'safari16'],
            lib: { entry: join(root, 'web/report/report.ts'), formats: ['iife'], name: 'report' },
        },
    })
)[0];
const script = output[0].code.trim().replaceAll('</', '<\\/');
const style = output.find(({ fileName }) => fileName.endsWith('.css')).source.trim();
const page = readFileSync(join(root, 'web/report/report.html'), 'utf8')
    .replace(/STYLE \{\s*\}/, () => style)
    .replace('SCRIPT', () => script);
const [before, after] = page.replaceAll(/^ {4,}/gm, '').split('RESULTS');

/** Some lines of C: pieces of a string, each short enough for an editor. */
function literal(text) {
    const pieces = text.match(/[^\n]{1,90}\n?|\n/g);
    const escaped = (piece) =>
        piece.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('?', '\\?').replaceAll('\n', '\\n');
    return pieces.map((piece) => `    "${escaped(piece)}"`).join('\n');
}
const text = `// report_page.inc: written by scripts/report.mjs from web/report: what stands before and after the results.
static const char page_before[] =
${literal(before)};
static const char page_after[] =
${literal(after)};
`;
if (process.argv.includes('--check')) {
    if (readFileSync(header, 'utf8') !== text) {
        console.error('cli/commands/grid/report_page.inc is not current: node scripts/report.mjs writes it');
        process.exit(1);
    }
} else writeFileSync(header, text);
