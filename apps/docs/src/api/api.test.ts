import { expect, test } from 'vitest';
import { apiPage, undocumented } from './api-page.ts';
import { apiSearch } from './api-search.ts';
import { moduleSummaries } from './module-summaries.ts';
import { readApi } from './read-api.ts';

const api = readApi();

test('every export of every import path has documentation', () => {
  expect(undocumented(api)).toEqual([]);
  expect(api.length).toBeGreaterThan(20);
  expect(api.flatMap(({ exports }) => exports).length).toBeGreaterThan(700);
});

test('an export without documentation is named', () => {
  const bare = {
    name: 'f',
    kind: 'function',
    signature: 'f()',
    docs: ' ',
    tags: [],
    members: [],
    types: [],
  } as const;
  expect(undocumented([{ path: '@tilewise/x', exports: [bare] }])).toEqual(['@tilewise/x f']);
});

test('every function and constant on a page can be imported', async () => {
  const values = new Set(['function', 'constant', 'namespace']);
  const missing = await Promise.all(
    api.map(async ({ path, exports }) => {
      const module: object = await import(/* @vite-ignore */ path);
      const absent = exports.filter(({ name, kind }) => values.has(kind) && !(name in module));
      return absent.map(({ name }) => `${path} ${name}`);
    }),
  );
  expect(missing.flat()).toEqual([]);
});

test('every link of a doc comment leads to an export', () => {
  const names = new Set(api.flatMap(({ exports }) => exports.map(({ name }) => name)));
  const dead = api.flatMap(({ path, exports }) =>
    exports.flatMap(({ name, docs, tags, members }) =>
      [
        docs,
        ...tags.map(({ text }) => text),
        ...members.flatMap(one => [one.docs, ...one.tags.map(({ text }) => text)]),
      ].flatMap(text =>
        [...text.matchAll(/\{@link\s+([^\s}|.]+)/g)]
          .filter(([, target]) => !names.has(target))
          .map(([, target]) => `${path} ${name}: ${target}`),
      ),
    ),
  );
  expect(dead).toEqual([]);
});

test('a page has the signature, the documentation and the members of an export', () => {
  const core = api.find(({ path }) => path === '@tilewise/core');
  const page = core ? apiPage(core, api) : '';
  expect(page).toContain('### mergePartials');
  expect(page).toContain('```ts\nfunction mergePartials(');
  expect(page).toMatch(/- `causal`: \S/);
});

test('the members of an object inside a type are named by their path', () => {
  const { exports = [] } = api.find(({ path }) => path === '@tilewise/nn') ?? {};
  const names = exports.find(({ name }) => name === 'TrainOptions')?.members.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['evaluation', 'evaluation.batches', 'evaluation.every']));
});

test('a class has the members of a base class that is not exported', () => {
  const webgpu = api.find(({ path }) => path === '@tilewise/webgpu');
  const members = (name: string) => webgpu?.exports.find(one => one.name === name)?.members ?? [];
  const upload = members('GpuContext').find(({ name }) => name.startsWith('upload('));
  expect(upload?.docs).toMatch(/\S/);
  expect(members('Plan').map(({ name }) => name.replace(/\W.*/, ''))).toContain('encode');
  expect(members('GpuContext').filter(({ name }) => /^(takeBuffer|remembered)\b/.test(name))).toEqual([]);
});

test('a type does not repeat the members of an exported type', () => {
  const nn = api.find(({ path }) => path === '@tilewise/nn');
  const loaded = nn?.exports.find(({ name }) => name === 'LoadedModel');
  expect(loaded?.members.map(({ name }) => name)).toEqual(['generationDefaults', 'generate']);
  const graph = api.find(({ path }) => path === '@tilewise/graph');
  const backward = graph?.exports.find(({ name }) => name === 'GradientGraph');
  expect(backward?.members.map(({ name }) => name)).toEqual(['seeds', 'gradients']);
});

test('a page says what a method throws', () => {
  const graph = api.find(({ path }) => path === '@tilewise/graph');
  const page = graph ? apiPage(graph, api) : '';
  expect(page).toMatch(
    /- `partitions`: .*\n\n {2}- `options.policy`: .*\n.*\n\n {2}\*\*Throws\*\* InvalidGraphError before `finalize`/,
  );
});

test('a member whose name is a symbol has the name that the source has', () => {
  const names = api.flatMap(({ exports }) =>
    exports.flatMap(({ members }) => members.map(({ name }) => name)),
  );
  expect(names).toContain('[Symbol.dispose]');
  expect(names.filter(name => name.startsWith('__') || name === '')).toEqual([]);
});

test('a long signature has each parameter in its own line, and its result in one', () => {
  const callGraph = api
    .find(({ path }) => path === '@tilewise/graph/ops')
    ?.exports.find(({ name }) => name === 'callGraph');
  expect(callGraph?.signature.split('\n')).toEqual([
    'function callGraph(',
    '  graph: Graph,',
    '  inputs: Readonly<Record<number, Operand>>,',
    '  after?: AfterOperation',
    '): ReadonlyMap<number, Variable>;',
  ]);
});

test('a short tuple is on one line', () => {
  const shape = api
    .find(({ path }) => path === '@tilewise/core')
    ?.exports.find(({ name }) => name === 'blockScaleShape');
  expect(shape?.signature).toContain('): [number, number, number, number];');
});

test('a page links the types of a signature', () => {
  const webgpu = api.find(({ path }) => path === '@tilewise/webgpu');
  const page = webgpu ? apiPage(webgpu, api) : '';
  const [, sdpa = ''] = page.split('### sdpa {#sdpa}');
  const [, links] = /\n\*\*Types\*\* (.*)\n/.exec(sdpa) ?? [];
  expect(links).toContain('[`GpuTensor`](#_gpu_tensor)');
  expect(links).toContain('[`SdpaOptions`](./core#_sdpa_options)');
});

test('a page has the formulas of an export unchanged', () => {
  const reference = api.find(({ path }) => path === '@tilewise/core/reference');
  const page = reference ? apiPage(reference, api) : '';
  expect(page).toMatch(/\n```\nx_ij = scale · q_i·k_j .*\n(.*\n)*?```\n/);
  expect(page).not.toContain('q\\_i');
});

test('every page begins with what its import path is for', () => {
  expect(Object.keys(moduleSummaries).sort()).toEqual(api.map(({ path }) => path).sort());
  const philox = api.find(({ path }) => path === '@tilewise/philox');
  expect(philox ? apiPage(philox, api) : '').toMatch(
    /^# @tilewise\/philox\n\nRandom numbers and dropout masks/,
  );
});

test('a type parameter or a type that is not exported is not linked to an export of the same name', () => {
  const webgpu = api.find(({ path }) => path === '@tilewise/webgpu');
  const types = (name: string) => webgpu?.exports.find(one => one.name === name)?.types ?? [];
  expect(types('TileChoice').map(({ name }) => name)).toEqual(['TileRole', 'Tile']);
  expect(types('GpuTensor').map(({ name }) => name)).not.toContain('Place');
  expect(types('checkSupport')).toContainEqual({ path: '@tilewise/core', name: 'Support' });
});

test('a signature has no internal members', () => {
  const webgpu = api.find(({ path }) => path === '@tilewise/webgpu');
  const signature = webgpu?.exports.find(({ name }) => name === 'GpuContext')?.signature;
  expect(signature).toMatch(/^class GpuContext .*\{\n {2}readonly tiles: TileSelector \| undefined;\n\}$/);
});

test('bold text of a doc comment is bold', () => {
  const core = api.find(({ path }) => path === '@tilewise/core');
  expect(core ? apiPage(core, api) : '').toContain('its diagonal key, **excluding** the diagonal key');
});

test('an operation has its operands, options and dtypes', () => {
  const ops = api.find(({ path }) => path === '@tilewise/graph/ops');
  const [, matmul = ''] = (ops ? apiPage(ops, api) : '').split('### matmul {#matmul}');
  expect(matmul).toContain(`function matmul(
  src: Operand,
  weights: Operand,
  bias?: Operand,
  options?: OptionsOf<'MatMul'>
): Variable;`);
  expect(matmul).toContain('- `src`: f32, bf16 or f16.\n- `weights`: of the dtype of `src`.');
  expect(matmul).toContain('- `options.transposeB`: a boolean; default: `false`.');
  expect(matmul).toContain(
    '**Types** [`Operand`](#_operand), [`OptionsOf`](#_options_of), [`Variable`](#_variable)',
  );
  expect(matmul).toContain('**Returns** a variable in f32, bf16 or f16.');
});

test('a member has its parameters, and an interface that can be called says how', () => {
  const ops = api.find(({ path }) => path === '@tilewise/graph/ops');
  const [, compiled = ''] = (ops ? apiPage(ops, api) : '').split('### CompiledFunction');
  expect(compiled).toMatch(
    /\n- `\(inputs, outputs\?\)`: Runs the function.*\n\n {2}- `inputs`: the arguments by name/,
  );
});

test('the search finds an export by its name, the words of its name, and the names of its members', () => {
  const sections = apiSearch(api).get('core') ?? [];
  const merge = sections.find(({ titles }) => titles.includes('mergePartials'));
  expect(merge?.titles).toEqual(['@tilewise/core', 'mergePartials']);
  expect(merge?.text).toMatch(/^merge Partials /);
  const page = apiPage(api.find(({ path }) => path === '@tilewise/core') ?? { path: '', exports: [] }, api);
  expect(page).toContain(`### mergePartials {#${merge?.anchor}}`);
  const options = sections.find(({ titles }) => titles.includes('SdpaOptions'));
  expect(options?.text.split(' ')).toEqual(expect.arrayContaining(['causal', 'dropout']));
  const all = [...apiSearch(api).values()].flat();
  expect(all.filter(({ text }) => text.includes('{@link'))).toEqual([]);
  expect(all.filter(({ text }) => text === '')).toEqual([]);
});
