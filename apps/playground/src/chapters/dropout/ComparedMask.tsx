import type { DropoutSchemeName } from '@tilewise/philox';
import { differences } from '../../logic/dropout-trace/engine-mask.ts';
import { maskStatistics } from '../../logic/dropout-trace/statistics.ts';
import { useNumbers } from '../../text/numbers.ts';
import { useChapterText } from '../../text/useChapterText.ts';
import { Stats } from '../../ui/figures/Stats.tsx';
import { MaskCanvas } from './MaskCanvas.tsx';

/** The mask of one scheme with its statistics, compared with the mask that an engine drew. */
export function ComparedMask(props: {
  readonly scheme: DropoutSchemeName;
  readonly mask: Uint8Array;
  /** The engine's mask; null while none has been drawn. */
  readonly drawn: Uint8Array | null;
  readonly size: number;
  readonly p: number;
  /** The row and the column of the chosen element. */
  readonly at: readonly [i: number, j: number];
  readonly isChosen: boolean;
  readonly onChoose: (row: number, column: number) => void;
}) {
  const { scheme, mask, drawn, size, p, at, isChosen, onChoose } = props;
  const words = useChapterText('dropout');
  const { fixed, percent, whole } = useNumbers();
  const { kept, total, deviation, across, down } = maskStatistics(mask, size, p);
  const { title, unit } = words.schemes[scheme];
  const differ = drawn && differences(mask, drawn);
  const [i, j] = at;
  const signed = (value: number, digits: number): string => `${value >= 0 ? '+' : ''}${fixed(value, digits)}`;
  return (
    <figure data-chosen={isChosen} data-symbol="M">
      <figcaption>
        <strong>{title}</strong>
        <span>{unit}</span>
      </figcaption>
      <MaskCanvas
        label={words.maskLabel(title, i, j, mask[i * size + j] === 1)}
        mask={mask}
        rows={size}
        columns={size}
        at={at}
        onChoose={onChoose}
      />
      <p className="compared" data-same={differ === null ? undefined : differ === 0}>
        {differ === null ? words.comparing : words.compared(differ, total, whole)}
      </p>
      <Stats
        items={[
          [words.keptShare, percent(kept / total, 1)],
          [words.fromP, `${signed(deviation, 1)} σ`],
          [words.across, signed(across, 3)],
          [words.down, signed(down, 3)],
        ]}
      />
    </figure>
  );
}
