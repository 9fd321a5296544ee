// targets.mjs: what a thumb presses in a page: its width and height, and how its markup begins; a box to tick
// with its label. For the tests of the page and for `make bars`.
export const targetsOf = (page) =>
    page.$$eval(
        'button, select, input, summary, :is(.where, .views, .rerun-said, .files, .papers) a, a.rerun-plot',
        (all) =>
            all
                .filter((one) => !one.matches('.term, .unseen *') && one.checkVisibility())
                .map((one) => (/^(checkbox|radio)$/.test(one.type) && one.closest('label')) || one)
                .map((one) => [one.getBoundingClientRect(), one.outerHTML.slice(0, 90)])
                .filter(([{ width }]) => width > 1)
                .map(([{ width, height }, what]) => ({ width, height, what })),
    );
