// rate.ts: how many steps a second a training takes, as it is shown: what is left must not jump.

const EVERY = 500; // milliseconds over which steps are counted
const NEWEST = 0.4; // what they weigh among those before

export class Rate {
    #time = 0;
    #step = 0;
    /** Steps a second; 0: not yet known. */
    value = 0;

    constructor(time: number, step: number) {
        this.begin(time, step);
    }
    /** It is trained from now on, or at another speed: what was before says nothing of it. Time in
     * milliseconds. */
    begin(time: number, step: number): void {
        this.#time = time;
        this.#step = step;
        this.value = 0;
    }
    add(time: number, step: number): void {
        if (step < this.#step) return this.begin(time, step);
        const passed = time - this.#time;
        if (passed <= EVERY) return;
        const newest = ((step - this.#step) * 1000) / passed;
        this.value = this.value > 0 ? this.value + NEWEST * (newest - this.value) : newest;
        this.#time = time;
        this.#step = step;
    }
}
