import { type KernelSpec, kernelSpec } from './kernel-spec.ts';
import type { StorageBinding } from './shader-part.ts';

/** A kernel whose text can become a part of another kernel. */
export interface FusiblePart {
  readonly kernel: KernelSpec;
  /** The number of lanes of a workgroup. */
  readonly lanes: number;
  /** Lines for the start of a module, such as `enable f16;`. */
  readonly directives: readonly string[];
  /** Declarations, and the body of the entry point as the function `run(group, lane)`. */
  readonly code: string;
  /** The names that the module declares, except those of bindings and workgroup variables. */
  readonly names: readonly string[];
  /** The names and the types of the workgroup variables. */
  readonly shared: readonly (readonly [name: string, type: string])[];
}

/** A part of a fused kernel. */
export interface PlacedPart {
  readonly part: FusiblePart;
  /** For each binding of the part, the index of the binding in the fused kernel. */
  readonly at: readonly number[];
}

const directive = /^(enable|requires|diagnostic)\b.*;$/gm;

/**
 * The start of an entry point without attributes and parameters other than those of every kernel, up to the
 * statements that return in surplus groups.
 */
const plainEntry = /@compute @workgroup_size\((\d+)\)\nfn main\(.*? lane: u32,\n\) \{.*?return;\n {2}\}/s;

/**
 * Takes a kernel apart; null if its entry point has further parameters or attributes, or passes its
 * parameters on as a whole.
 */
export function fusiblePart(kernel: KernelSpec): FusiblePart | null {
  // Names in comments must not be replaced.
  const text = kernel.wgsl.replace(/ *\/\/.*/g, '');
  const entry = plainEntry.exec(text);
  if (!entry) return null;
  const [start, lanes] = entry;
  const [before, body] = [text.slice(0, entry.index), text.slice(entry.index + start.length)];
  const directives = before.match(directive) ?? [];
  const shared: (readonly [string, string])[] = [];
  const declarations = before
    .replace(directive, '')
    .replace(/^struct Params \{[^}]*\}/m, '')
    .replace(/^@group\(0\).*;$/gm, '')
    .replace(/^var<workgroup> (\w+): (.*);$/gm, (_, name: string, type: string) => {
      shared.push([name, type]);
      return '';
    });
  const code = `${declarations}fn run(group: u32, lane: u32) {${body}`;
  if (/\bP\b(?!\.)/.test(code)) return null;
  const declared = code.matchAll(/^(?:fn|struct|alias|const|var<private>) (\w+)/gm);
  const names = Array.from(declared, ([, name]) => name);
  return { kernel, lanes: Number(lanes), directives, code, names, shared };
}

/**
 * Whether one kernel may have both parts: they need workgroups of the same size, and the same workgroup
 * variables or none.
 */
export function areAlike(a: FusiblePart, b: FusiblePart): boolean {
  const types = ({ shared }: FusiblePart): string => shared.map(([, type]) => type).join();
  const hasNone = a.shared.length === 0 || b.shared.length === 0;
  return a.lanes === b.lanes && (hasNone || types(a) === types(b));
}

/**
 * One kernel whose workgroups first run the first part, then the second, and so on (horizontal fusion: Li et
 * al. 2022, Automatic Horizontal Fusion for GPU Kernels). The parameters of the parts follow its own, one
 * part after the other. Names of a part get a prefix; parts share workgroup variables, because a workgroup
 * runs one part.
 * @param bindings the bindings of the fused kernel.
 * @param groups the workgroups of all parts.
 */
export function fusedKernel(
  parts: readonly PlacedPart[],
  bindings: readonly StorageBinding[],
  groups: number,
): KernelSpec {
  const variableAt = (n: number): string => `buffer${n}`;
  const texts = parts.map(({ part, at }, k) => {
    const names = new Map([
      ...['run', ...part.names].map(name => [name, `k${k}_${name}`] as const),
      ...part.kernel.bindings.map(({ name, variable = name }, n) => [variable, variableAt(at[n])] as const),
      ...part.shared.map(([name], n) => [name, `shared${n}`] as const),
    ]);
    return part.code.replace(/\bP\.(\w+)|\b[A-Za-z_]\w*/g, (word, field?: string) =>
      field ? `P.k${k}_${field}` : (names.get(word) ?? word),
    );
  });
  const shared = parts.map(({ part }) => part.shared).find(({ length }) => length > 0) ?? [];
  const calls = parts.map(
    (_, k) => `let count${k} = P.k${k}_end_group - P.k${k}_first_group;
  if (index < count${k}) {
    k${k}_run(P.k${k}_first_group + index, lane);
    return;
  }
  index -= count${k};`,
  );
  return kernelSpec({
    name: [...new Set(parts.map(({ part }) => part.kernel.name))].join(' | '),
    groups,
    workgroupSize: parts[0].part.lanes,
    parts: [
      {
        bindings: bindings.map((binding, n) => ({
          ...binding,
          name: variableAt(n),
          variable: variableAt(n),
        })),
        uniforms: parts.flatMap(({ part }, k) =>
          part.kernel.uniforms.map(field => ({ ...field, name: `k${k}_${field.name}` })),
        ),
        directives: parts.flatMap(({ part }) => part.directives),
      },
    ],
    declarations: [...shared.map(([, type], n) => `var<workgroup> shared${n}: ${type};`), ...texts].join(
      '\n\n',
    ),
    body: `  var index = group;
  ${calls.join('\n  ')}`,
  });
}
