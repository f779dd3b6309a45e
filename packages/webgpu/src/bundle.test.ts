import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, type Plugin } from 'esbuild';
import { expect, test } from 'vitest';

const bundleOf = (...names: string[]): Promise<string> => bundleFrom('./index.ts', ...names);

const dynamicImportsStayOutside: Plugin = {
  name: 'dynamic imports stay outside',
  setup({ onResolve }) {
    onResolve({ filter: /^\./ }, ({ kind, path }) =>
      kind === 'dynamic-import' ? { path, external: true } : undefined,
    );
  },
};

/** The code that a page loads at the start, without dynamic imports. */
async function bundleFrom(module: string, ...names: string[]): Promise<string> {
  const contents = `import { ${names.join(', ')} } from '${module}'; console.log(${names.join(', ')});`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: fileURLToPath(new URL('.', import.meta.url)), loader: 'ts' },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    conditions: ['@tilewise/source'],
    plugins: [dynamicImportsStayOutside],
  });
  return outputFiles[0].text;
}

test('a page that only runs forward contains no backward kernels', async () => {
  for (const name of ['planSdpa', 'sdpa']) {
    const code = await bundleOf('createContext', name);
    expect(code).toContain('attention forward');
    expect(code).not.toMatch(/attention (dq|dk|dbias|dsink|delta)/);
  }
});

test('a context alone contains only the kernel that gathers tensors', async () => {
  const code = await bundleOf('createContext');
  expect(code).toContain('source_base');
  expect(code).not.toMatch(/score4|attention (forward|delta|dq)/);
});

test('kernels alone contain no code for plans', async () => {
  const made = /beginComputePass|createComputePipeline|pushErrorScope/;
  expect(await bundleOf('sdpa', 'sdpaBackward', 'planSdpa')).not.toMatch(made);
  expect(await bundleOf('createContext')).toMatch(made);
});

test('a page starts without the code that a context loads beside the device', async () => {
  expect(await bundleOf('createContext', 'sdpa', 'sdpaBackward')).not.toMatch(
    /attention (merge|dropout mask|dbias)/,
  );
  for (const text of ['philox4x32', 'dCaptures.', 'must hold blocks in']) {
    expect(await bundleOf('createContext', 'sdpa')).not.toContain(text);
    expect(await bundleOf('planSdpaBackward')).toContain(text);
  }
});

test('calls without 8-bit arithmetic contain no code for it', async () => {
  const fp8 = /attention (dequantise|fp8 output|amax clear)|block_rounded|fp8_base/;
  expect(await bundleOf('createContext', 'sdpa', 'sdpaBackward', 'sdpaVjp')).not.toMatch(fp8);
  expect(await bundleOf('planSdpa')).toMatch(fp8);
});

test('calls contain no code for f16 arithmetic, prefetch or subgroup row reductions', async () => {
  const code = await bundleOf('createContext', 'sdpa', 'sdpaBackward');
  for (const own of ['fn exceeds', 'prefetches ', 'fn number_lane']) {
    expect(code).not.toContain(own);
    expect(await bundleFrom('./subpaths/tiles.ts', 'workgroupTile')).toContain(own);
  }
});

test('everything eager stays below 54 KB gzipped', async () => {
  const code = await bundleOf('createContext', 'sdpa', 'sdpaBackward');
  expect(gzipSync(code).length).toBeLessThan(54_000);
});

test('calls without mods contain no code for expressions', async () => {
  const code = await bundleOf('createContext', 'sdpa', 'sdpaBackward');
  expect(code).not.toMatch(/expr_floor_div|is not a constant of type/);
  expect(await bundleOf('planSdpa')).toContain('expr_floor_div');
});

test('the code that finds subgroup matrices is loaded only on devices that may have them', async () => {
  expect(await bundleOf('createContext')).not.toContain('subgroup_matrix_left');
});
