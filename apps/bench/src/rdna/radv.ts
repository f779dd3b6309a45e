import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { nullQueueSource } from './null-queue.ts';

const icdFiles = ['radeon_icd.json', 'radeon_icd.x86_64.json', 'radeon_icd.aarch64.json'].map(
  name => `/usr/share/vulkan/icd.d/${name}`,
);

/**
 * The environment of a process in which Dawn's only adapter is Mesa's RADV without hardware, for a GPU family
 * such as `navi31`; or a sentence that says what this machine lacks.
 */
export function radvEnvironment(family: string): Readonly<Record<string, string>> | string {
  const icd = process.platform === 'linux' ? icdFiles.find(existsSync) : undefined;
  if (!icd)
    return "Mesa's driver for AMD is not on this machine: Debian and Ubuntu have it in the package mesa-vulkan-drivers.";
  const { ICD } = JSON.parse(readFileSync(icd, 'utf8')) as { ICD: { library_path: string } };
  const library = ICD.library_path.includes('/') ? resolve(dirname(icd), ICD.library_path) : ICD.library_path;
  const folder = mkdtempSync(join(tmpdir(), 'tilewise-rdna-'));
  const [source, built, file] = ['null-queue.c', 'libnull-queue.so', 'icd.json'].map(name =>
    join(folder, name),
  );
  writeFileSync(source, nullQueueSource);
  try {
    execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', built, source], { stdio: 'pipe' });
  } catch {
    return 'No C compiler builds the driver without queues: Debian and Ubuntu have one in the package gcc.';
  }
  const wrapper = { file_format_version: '1.0.0', ICD: { library_path: built, api_version: '1.3.0' } };
  writeFileSync(file, JSON.stringify(wrapper));
  return {
    ...{ NULL_QUEUE_DRIVER: library, RADV_FORCE_FAMILY: family, TILEWISE_ADAPTER: file },
    ...{ RADV_DEBUG: 'shaders,shaderstats', ACO_DEBUG: 'perfinfo', MESA_SHADER_CACHE_DISABLE: 'true' },
  };
}
