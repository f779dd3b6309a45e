import type { KernelSpec } from './kernel-spec.ts';
import type { StorageBinding } from './shader-part.ts';

/** A kernel whose text can become a part of another kernel. */
export interface FusiblePart {
  readonly kernel: KernelSpec;
  /** The number of lanes of a workgroup, as text. */
  readonly lanes: string;
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
  const directives = before.match(/^(enable|requires|diagnostic)\b.*;$/gm) ?? [];
  const shared: (readonly [string, string])[] = [];
  const declarations = before
    .replace(/^(enable|requires|diagnostic)\b.*;$/gm, '')
    .replace(/^struct Params \{[^}]*\}/m, '')
    .replace(/^@group\(0\).*;$/gm, '')
    .replace(/^var<workgroup> (\w+): (.*);$/gm, (_, name: string, type: string) => {
      shared.push([name, type]);
      return '';
    });
  const code = `${declarations}fn run(group: u32, lane: u32) {${body}`;
  if (/\bP\b(?!\.)/.test(code)) return null;
  const declared = code.matchAll(/^(?:fn|struct|alias|const|var<private>) (\w+)/gm);
  return { kernel, lanes, directives, code, names: [...declared].map(([, name]) => name), shared };
}

/**
 * Whether two parts may be in one fused kernel: workgroups have one size, and workgroup memory for one part.
 */
export function areAlike(a: FusiblePart, b: FusiblePart): boolean {
  const types = ({ shared }: FusiblePart): string => shared.map(([, type]) => type).join();
  const hasNone = a.shared.length === 0 || b.shared.length === 0;
  return a.lanes === b.lanes && (hasNone || types(a) === types(b));
}

/**
 * One kernel whose workgroups first run the first part, then the second, and so on (horizontal fusion: Li et
 * al. 2022, Automatic Horizontal Fusion for GPU Kernels). Its parameters are those of the parts, one after
 * the other. Names of a part get a prefix; workgroup variables of equal types are shared, because a workgroup
 * runs one part.
 * @param bindings the bindings of the fused kernel.
 */
export function fusedKernel(parts: readonly PlacedPart[], bindings: readonly StorageBinding[]): KernelSpec {
  const variableAt = (n: number): string => `buffer${n}`;
  const sharedTypes = parts.map(({ part }) => part.shared).find(({ length }) => length > 0) ?? [];
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
  const uniforms = parts.flatMap(({ part }, k) =>
    part.kernel.uniforms.map(field => ({ ...field, name: `k${k}_${field.name}` })),
  );
  const [{ part: first }] = parts;
  const calls = parts.map(
    (_, k) => `  let count${k} = P.k${k}_end_group - P.k${k}_first_group;
  if (group < count${k}) {
    k${k}_run(P.k${k}_first_group + group, lane);
    return;
  }
  group -= count${k};`,
  );
  const wgsl = `${[...new Set(parts.flatMap(({ part }) => part.directives))].join('\n')}
struct Params {
${uniforms.map(({ name, type }) => `  ${name}: ${type},`).join('\n')}
}

@group(0) @binding(0) var<uniform> P: Params;

${bindings
  .map(
    ({ access, element }, n) =>
      `@group(0) @binding(${n + 1}) var<storage, ${access}> ${variableAt(n)}: array<${element}>;`,
  )
  .join('\n\n')}

${sharedTypes.map(([, type], n) => `var<workgroup> shared${n}: ${type};`).join('\n')}

${texts.join('\n\n')}

@compute @workgroup_size(${first.lanes})
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  var group = workgroup.x + workgroup.y * workgroups.x;
${calls.join('\n')}
}
`;
  return {
    name: [...new Set(parts.map(({ part }) => part.kernel.name))].join(' | '),
    ...{ wgsl, bindings, uniforms, gathered: [], grid: null },
    groups: 0,
  };
}
