// share_part.tsx: the way to share.tsx, which is fetched when it is first opened.
import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';

const part = signal<ComponentType | null>(null);

export function SharePart() {
    const View = part.value;
    return View ? <View /> : null;
}
export async function share(): Promise<void> {
    const { default: View, sharing } = await import('./share.tsx');
    part.value = View;
    sharing.value = true;
}
