import { useChapterText } from '../../../text/useChapterText.ts';

/** The factors by which a button or a key zooms. */
export const zoomSteps = { in: 1.25, out: 0.8 } as const;

export function ZoomButtons(props: { readonly zoomBy: (factor: number) => void; readonly fit: () => void }) {
  const { zoomBy, fit } = props;
  const text = useChapterText('graph');
  return (
    <fieldset className="graph-zoom">
      <legend className="visually-hidden">{text.zoom}</legend>
      <button
        type="button"
        className="button icon"
        aria-label={text.zoomIn}
        onClick={() => zoomBy(zoomSteps.in)}
      >
        +
      </button>
      <button
        type="button"
        className="button icon"
        aria-label={text.zoomOut}
        onClick={() => zoomBy(zoomSteps.out)}
      >
        −
      </button>
      <button type="button" className="button" onClick={fit}>
        {text.zoomFit}
      </button>
    </fieldset>
  );
}
