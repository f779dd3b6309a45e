import type { Tensor } from '@tilewise/core';

/** Attention maps of a sequence: of each layer (heads, S, S). */
export type AttentionMaps = readonly Tensor[];

/** A place in a sequence that looks at another. */
export interface Look {
  readonly from: number;
  readonly to: number;
}

/** A head, and how much of its attention lies where it was looked for, on average. */
export interface HeadMass {
  readonly layer: number;
  readonly head: number;
  readonly mass: number;
}

/**
 * The head of all layers that attends most to the given places, over some sequences and the looks in each.
 */
export function strongestHead(maps: readonly AttentionMaps[], looks: readonly (readonly Look[])[]): HeadMass {
  const count = looks.reduce((sum, list) => sum + list.length, 0);
  const [first] = maps;
  const masses = first.flatMap(({ shape: [heads] }, layer) =>
    Array.from({ length: heads }, (_, head): HeadMass => {
      const total = maps.reduce(
        (sum, layers, n) =>
          looks[n].reduce((mass, { from, to }) => mass + layers[layer].get(head, from, to), sum),
        0,
      );
      return { layer, head, mass: total / count };
    }),
  );
  return masses.reduce((a, b) => (b.mass > a.mass ? b : a));
}
