import { useEffect, useRef } from 'react';
import { keyStep, pointedAt } from '../../ui/controls/grid-keys.ts';

/** A dropout mask as a picture; clicking or the arrow keys choose an element. */
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
    if (!context) return;
    // One pixel per element; CSS enlarges it without smoothing.
    const image = context.createImageData(columns, rows);
    for (let n = 0; n < mask.length; n++) {
      const shade = mask[n] ? 255 : 0;
      image.data.set([shade, shade, shade, mask[n] ? 230 : 40], 4 * n);
    }
    context.putImageData(image, 0, 0);
  }, [mask, rows, columns]);
  return (
    <button
      type="button"
      className="mask"
      aria-label={label}
      onKeyDown={event => {
        const to = keyStep(event, at, [rows, columns]);
        if (!to) return;
        event.preventDefault();
        onChoose(...to);
      }}
      onClick={event => {
        // A click by the keyboard has no position.
        if (event.detail > 0) onChoose(...pointedAt(event, [rows, columns]));
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
