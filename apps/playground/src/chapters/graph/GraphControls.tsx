import type { AttentionGraphOptions } from '../../logic/graph/attention-graph.ts';
import { useUrlChoice, useUrlFlag } from '../../state/url-state.ts';
import { useChapterText } from '../../text/useChapterText.ts';
import { Choice } from '../../ui/controls/Choice.tsx';
import { Toggle } from '../../ui/controls/Toggle.tsx';

/** The options of the built graph, and how to set each. */
export interface AttentionOptions {
  readonly value: AttentionGraphOptions;
  readonly set: { readonly [K in keyof AttentionGraphOptions]: (value: AttentionGraphOptions[K]) => void };
}

/** The options, kept in the URL. */
export function useAttentionOptions(): AttentionOptions {
  const [pass, setPass] = useUrlChoice('pass', 'training', ['inference', 'training', 'backward']);
  const [mask, setMask] = useUrlChoice('mask', 'causal', ['none', 'causal', 'added', 'selected']);
  const [softmax, setSoftmax] = useUrlChoice('softmax', 'operation', ['operation', 'decomposed']);
  const [dtype, setDtype] = useUrlChoice('dtype', 'f32', ['f32', 'f16', 'bf16']);
  const [dropout, setDropout] = useUrlFlag('dropout');
  const [grouped, setGrouped] = useUrlFlag('grouped');
  const [softcap, setSoftcap] = useUrlFlag('softcap');
  return {
    value: { pass, mask, softmax, dtype, dropout, grouped, softcap },
    set: {
      pass: setPass,
      mask: setMask,
      softmax: setSoftmax,
      dtype: setDtype,
      dropout: setDropout,
      grouped: setGrouped,
      softcap: setSoftcap,
    },
  };
}

/** The controls that choose the graph's operations. */
export function GraphControls({ options: { value, set } }: { readonly options: AttentionOptions }) {
  const text = useChapterText('graph');
  return (
    <div className="graph-controls">
      <Choice label={text.pass} value={value.pass} options={text.passes} onChange={set.pass} />
      <Choice label={text.mask} value={value.mask} options={text.masks} onChange={set.mask} />
      <Choice label={text.softmax} value={value.softmax} options={text.softmaxes} onChange={set.softmax} />
      <Choice
        label={text.dtype}
        value={value.dtype}
        options={{ f32: 'f32', f16: 'f16', bf16: 'bf16' }}
        onChange={set.dtype}
      />
      <div className="choice">
        <Toggle label={text.dropout} checked={value.dropout} onChange={set.dropout} />
        <Toggle label={text.grouped} checked={value.grouped} onChange={set.grouped} />
        <Toggle label={text.softcap} checked={value.softcap} onChange={set.softcap} />
      </div>
    </div>
  );
}
