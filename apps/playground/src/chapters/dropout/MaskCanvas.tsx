import { useEffect, useRef } from 'react';

/** A dropout mask as a picture; a press or the arrow keys choose an element. */
export function MaskCanvas(props: {
  readonly label: string;
  readonly mask: Uint8Array;
  readonly rows: number;
  readonly columns: number;
  readonly at: readonly [i: number, j: number];
  readonly onChoose: (i: number, j: number) => void;
}) {
  const { label, mask, rows, columns, at, onChoose } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [ai, aj] = at;
  useEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (!context || !canvas.current) return;
    // One pixel per element; CSS enlarges it without smoothing.
    const image = context.createImageData(columns, rows);
    for (let n = 0; n < mask.length; n++) {
      const shade = mask[n] ? 255 : 0;
      image.data.set([shade, shade, shade, mask[n] ? 230 : 40], 4 * n);
    }
    context.putImageData(image, 0, 0);
  }, [mask, rows, columns]);
  const move = (di: number, dj: number): void =>
    onChoose(Math.max(0, Math.min(rows - 1, ai + di)), Math.max(0, Math.min(columns - 1, aj + dj)));
  const steps: Readonly<Record<string, readonly [number, number]>> = {
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
  };
  return (
    <button
      type="button"
      className="mask"
      aria-label={`${label}: element (${ai}, ${aj}) is ${mask[ai * columns + aj] ? 'kept' : 'dropped'}. Arrow keys choose another.`}
      onKeyDown={event => {
        const step = steps[event.key];
        if (!step) return;
        event.preventDefault();
        move(...step);
      }}
      onClick={event => {
        // A press by the keyboard has no place.
        if (event.detail === 0) return;
        const box = event.currentTarget.getBoundingClientRect();
        const i = Math.floor(((event.clientY - box.top) / box.height) * rows);
        const j = Math.floor(((event.clientX - box.left) / box.width) * columns);
        onChoose(Math.max(0, Math.min(rows - 1, i)), Math.max(0, Math.min(columns - 1, j)));
      }}
    >
      <canvas ref={canvas} width={columns} height={rows} />
      <span
        className="mask-cursor"
        style={{
          insetInlineStart: `${(100 * aj) / columns}%`,
          insetBlockStart: `${(100 * ai) / rows}%`,
          inlineSize: `${100 / columns}%`,
          blockSize: `${100 / rows}%`,
        }}
      />
    </button>
  );
}
