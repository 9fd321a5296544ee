// drawing.tsx: a drawing that knows the width of its place.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** A drawing as wide as its place: `children` gets the width in pixels. */
export function Drawing({
    height,
    label,
    class: name = '',
    held = false,
    children,
}: {
    height: number | ((width: number) => number);
    label: string;
    class?: string;
    /** It has parts to take hold of, so that it is more than an image. */
    held?: boolean;
    children: (width: number, height: number) => ComponentChildren;
}) {
    const host = useRef<HTMLDivElement>(null);
    const [width, setWidth] = useState(0);
    useLayoutEffect(() => {
        const place = host.current!;
        const measure = () => setWidth(place.clientWidth);
        measure();
        const observer = new ResizeObserver(measure);
        observer.observe(place);
        return () => observer.disconnect();
    }, []);
    const tall = typeof height === 'number' ? height : height(width);
    return (
        <div class={`drawing ${name}`} ref={host}>
            {width > 0 && (
                <svg
                    width={width}
                    height={tall}
                    viewBox={`0 0 ${width} ${tall}`}
                    role={held ? 'group' : 'img'}
                    aria-label={label}
                >
                    {children(width, tall)}
                </svg>
            )}
        </div>
    );
}
