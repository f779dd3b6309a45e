import { unflatten } from '@tilewise/core/expr';
import { type DropoutSchemeName, dropoutSchemeNames } from '@tilewise/philox';
import type { CallSettings } from '../../ir/program/attention-call.ts';
import { omitUndefined } from '../../ir/schema/omit-undefined.ts';
import type { ResolvedAttributes } from '../../ir/schema/schema.ts';

const schema = {
  inputs: '...operand:=any',
  outputs: '...result:=any',
  attributes: {
    operands: { type: 'string', required: true },
    results: { type: 'string', required: true },
    scale: { type: 'f32' },
    softcap: { type: 'f32' },
    left: { type: 's64' },
    right: { type: 's64' },
    align: { type: 'string', among: ['top-left', 'bottom-right'] },
    alibi: { type: 'bool', default: false },
    score_mod: { type: 'string' },
    p: { type: 'f32' },
    scheme: { type: 'string', among: dropoutSchemeNames as readonly DropoutSchemeName[] },
    max_seq_len_q: { type: 's64' },
    max_seq_len_kv: { type: 's64' },
  },
} as const;

/** The schemas of attention forward and backward. */
export const attentionSchemas = {
  Sdpa: schema as typeof schema,
  SdpaBackward: schema as typeof schema,
} as const;

/** The attributes of attention, with defaults filled in. */
export type SdpaAttributes = ResolvedAttributes<typeof schema.attributes>;

/** The settings that the attributes give; `left` and `right` count keys to each side of the diagonal key. */
export function settingsOf(attributes: Partial<SdpaAttributes>): CallSettings {
  const { scale, softcap, left, right, align, alibi, score_mod, p, scheme } = attributes;
  const window = omitUndefined({ left, right, align });
  return omitUndefined({
    ...{ scale, softcap, p, scheme },
    window: Object.keys(window).length > 0 ? window : undefined,
    alibi: alibi || undefined,
    scoreMod: score_mod === undefined ? undefined : unflatten(JSON.parse(score_mod)),
    maxSeqLenQ: attributes.max_seq_len_q,
    maxSeqLenKv: attributes.max_seq_len_kv,
  });
}
