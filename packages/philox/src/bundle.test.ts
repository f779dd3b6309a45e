import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

const resolveDir = fileURLToPath(new URL('.', import.meta.url));

async function bundle(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir, loader: 'ts' },
    bundle: true,
    minify: true,
    format: 'esm',
    write: false,
    logLevel: 'silent',
  });
  return outputFiles[0]?.text ?? '';
}

describe('a bundle', () => {
  it('of the block function alone is that function and its checks', async () => {
    const code = await bundle(
      "import { philox4x32 } from './index.ts'; console.log(philox4x32([0, 0, 0, 0], [0, 0]));",
    );
    expect(gzipSync(code).length).toBeLessThan(900);
    expect(code).not.toMatch(/seed|dropout|Float32Array|Uint8Array/);
  });

  it('of the dropout masks has no WGSL in it', async () => {
    const code = await bundle("import { dropoutMask } from './index.ts'; console.log(dropoutMask);");
    expect(code).toContain('torch-efficient');
    expect(code).not.toContain('vec4u');
  });

  it('of the dropout shaders has no host code that draws masks', async () => {
    const code = await bundle(
      "import { dropoutPieces, dropoutUniforms } from './wgsl/index.ts'; console.log(dropoutPieces, dropoutUniforms);",
    );
    expect(code).toContain('dropout_keep4_at');
    expect(code).not.toContain('keepRow');
    expect(code).not.toContain('Uint32Array');
  });

  it('of unused imports is empty', async () => {
    expect(await bundle("import './index.ts'; import './wgsl/index.ts'; import './interop/index.ts';")).toBe(
      '',
    );
  });
});
