// exercises.ts: questions whose answer is a number or a digest that the page computes again: bits are equal
// everywhere, so that what a student found at home can be corrected by anybody, without a network. Pure
// functions; nothing here knows an answer.

/** What is asked of a run that was trained to its end. */
export const ASKS = ['accuracy', 'digest', 'weights', 'first', 'loss'] as const;
export type Ask = (typeof ASKS)[number];
/** What a run has in the end. */
export interface Trained {
    digest: string;
    params: number;
    losses: ArrayLike<number>;
    points: readonly { step: number; score: number }[];
}
export interface Exercise {
    title: string;
    /** What to do and to look for. */
    text: string;
    config: string;
    ask: Ask;
}
/** The step whose loss is asked for. */
export const LOSS_STEP = 50;
export const REACHED = 0.99;

/** The question itself, the same for whoever makes one. */
export const QUESTIONS: Record<Ask, string> = {
    accuracy: 'What percentage of the held-out answers is right at the end? One decimal.',
    digest: 'What are the first eight characters of its digest at the end?',
    weights: 'How many weights does the model have?',
    first: `At which step were at least ${100 * REACHED} % of the held-out answers right for the first time? Enter 0 if they never were.`,
    loss: `What is the loss of step ${LOSS_STEP}? Four decimals.`,
};

export const EXERCISES: readonly Exercise[] = [
    {
        title: 'Attention alone',
        text: 'Train attention on recall to the end. Is it better than a guess among eight values?',
        config: 'mixer=attention&task=mqar',
        ask: 'accuracy',
    },
    {
        title: 'The price of the filter',
        text: 'Give attention a filter of three weights on its keys alone. Attention has 8,256 weights: what does the filter add?',
        config: 'mixer=cat&filters=k&task=mqar&batch=8&rate=0.02&steps=300',
        ask: 'weights',
    },
    {
        title: 'The moment it clicks',
        text: 'Train CAT on recall, and watch for the step at which it has learnt to find values.',
        config: 'mixer=cat&task=mqar',
        ask: 'first',
    },
    {
        title: 'One weight less',
        text: 'Give CAT filters of two weights instead of three. Does it still learn recall? Its digest says whether you trained the right model.',
        config: 'mixer=cat&filter=2&task=mqar',
        ask: 'digest',
    },
    {
        title: 'Another beginning',
        text: 'Train CAT on recall from seed 2. The start of a loss curve depends on its seed: compare with seed 1.',
        config: 'mixer=cat&task=mqar&seed=2',
        ask: 'loss',
    },
];

/** The right answer as it is written. */
export function answerOf(ask: Ask, { digest, params, losses, points }: Trained): string {
    switch (ask) {
        case 'accuracy':
            return (100 * (points[points.length - 1]?.score ?? 0)).toFixed(1);
        case 'digest':
            return digest.slice(0, 8);
        case 'weights':
            return String(params);
        case 'first':
            return String(points.find(({ score }) => score >= REACHED)?.step ?? 0);
        case 'loss':
            return (losses[LOSS_STEP - 1] ?? NaN).toFixed(4);
    }
}
/** What was typed, as it is compared: a number without thousands' commas, percent sign or spaces; a digest in
 * small letters. */
function plain(ask: Ask, given: string): string {
    const text = given.trim().toLowerCase();
    if (ask === 'digest') return text.replace(/^0x/, '');
    const bare = text.replace(/[\s%]/g, '');
    // A comma before three digits parts thousands, else it is a decimal point.
    return bare.replace(/,(?=\d{3}(\D|$))/g, '').replace(',', '.');
}
const PLACES: Partial<Record<Ask, number>> = { accuracy: 1, loss: 4 };
/** Whether the answer is right; null: it is none. */
export function judged(ask: Ask, given: string, trained: Trained): boolean | null {
    const text = plain(ask, given);
    if (!text) return null;
    const right = answerOf(ask, trained);
    if (ask === 'digest') return text.length >= 8 && trained.digest.startsWith(text);
    if (!/^[+-]?(\d+\.?\d*|\.\d+)$/.test(text)) return null;
    return (
        Number(text).toFixed(PLACES[ask] ?? 0) === right &&
        Number(text) === Number(Number(text).toFixed(PLACES[ask] ?? 0))
    );
}

// ---- A sheet in an address --------------------------------------------------------------------------------

/** A lecturer's own exercise (its config is the page's run), and the answers given, in order. */
export interface Sheet {
    own: Ask | null;
    answers: readonly string[];
}
const written = (answer: string): string =>
    answer
        .trim()
        .replace(/[^\w.,-]/g, '')
        .slice(0, 24);
/** What the address keeps of it: 'own:digest;3fa41b22;;12.5'. */
export function writeSheet({ own, answers }: Sheet): string {
    const given = answers.map(written);
    while (given.length && !given[given.length - 1]) given.pop();
    return own || given.length ? [own ? `own:${own}` : 'sheet', ...given].join(';') : '';
}
export function readSheet(detail: string): Sheet {
    const [head = '', ...answers] = detail.split(';');
    const ask = ASKS.find((one) => head === `own:${one}`) ?? null;
    return ask || head === 'sheet' ? { own: ask, answers } : { own: null, answers: [] };
}
