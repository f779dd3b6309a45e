/** The phases of a workgroup of the forward kernel; the middle ones run for each tile of keys. */
export const phases = [
  'tile',
  'state',
  'loop',
  'scores',
  'mask',
  'maximum',
  'weights',
  'sum',
  'output',
  'lanes',
  'store',
] as const;

export type Phase = (typeof phases)[number];

/** The line of the kernel's `main` that each phase begins with. */
const marks: Readonly<Record<Phase, string>> = {
  tile: '// One tile of queries',
  state: "// Each row's maximum m",
  loop: 'let keys = key_range(',
  scores: '// S = Q·Kᵀ',
  mask: 'let j = j0 +',
  maximum: "// m' = max(m, rowmax(S))",
  weights: "// P = e^(S − m')",
  sum: "// l' = e^(m − m') · l + rowsum(P)",
  output: "// O' = e^(m − m') · O + P·V",
  lanes: '// l of all keys',
  store: '// o = O / l',
};

/** A part of the source, and its phase; null before the first phase. */
export interface SourcePart {
  readonly phase: Phase | null;
  readonly text: string;
}

/**
 * Splits `main` of the forward kernel at its phases.
 * @throws Error when a phase is not there exactly once, in this order: the kernel has changed.
 */
export function partsOf(source: string): SourcePart[] {
  const main = source.slice(source.indexOf('@compute'));
  const lines = main.split('\n');
  const starts = phases.map(phase => {
    const found = lines.flatMap((line, n) => (line.includes(marks[phase]) ? [n] : []));
    if (found.length !== 1) throw new Error(`The kernel has ${found.length} lines with ${marks[phase]}.`);
    return found[0] ?? 0;
  });
  const text = (from: number, to?: number): string => lines.slice(from, to).join('\n');
  return [
    { phase: null, text: text(0, starts[0]) },
    ...phases.map((phase, n): SourcePart => ({ phase, text: text(starts[n] ?? 0, starts[n + 1]) })),
  ];
}

/** A moment of a workgroup: its phase, and its tile of keys; null outside the loop. */
export interface Moment {
  readonly phase: Phase;
  readonly j: number | null;
}

const [before, during, after] = [phases.slice(0, 2), phases.slice(2, 9), phases.slice(9)];

/** The moments of a workgroup from beginning to end, with `tiles` tiles of keys. */
export function momentsOf(tiles: number): Moment[] {
  const outside = (phase: Phase): Moment => ({ phase, j: null });
  const inside = Array.from({ length: tiles }, (_, j) => during.map((phase): Moment => ({ phase, j })));
  return [...before.map(outside), ...inside.flat(), ...after.map(outside)];
}
