import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { swiftShaderDriver } from '../../tools/webgpu-host/dist/vulkan/swiftshader.js';
import { browserScripts, inServiceWorker, inWorker, onMainThread } from './browser-scripts.mjs';

// Firefox on Linux has WebGPU but disables it by default, and only uses a software adapter if told to.
const preferences = [
  'dom.webgpu.enabled',
  'dom.webgpu.service-workers.enabled',
  'gfx.webgpu.ignore-blocklist',
];

const missing = 'not run: no Firefox on the machine';

/**
 * Runs the packages in the contexts of a page in Firefox: the one that the environment variable
 * `TILEWISE_FIREFOX` names, else `firefox` or `firefox-esr` of the machine. If there is none, the checks are
 * skipped and say so.
 */
export function firefoxChecks({ folder }) {
  const firefox = findFirefox();
  const check = (where, what, work) => ({
    where: `Firefox, ${where}`,
    what,
    run: async () => (firefox ? await inFirefox(firefox, await browserScripts(folder), work) : missing),
  });
  return [
    check('main thread', 'CPU', onMainThread('cpu')),
    check('main thread', 'WebGPU', onMainThread('gpu')),
    check('worker', 'CPU', inWorker('cpu')),
    check('worker', 'WebGPU', inWorker('gpu')),
    check('service worker', 'CPU', inServiceWorker('cpu')),
    check('service worker', 'WebGPU', inServiceWorker('gpu')),
  ];
}

function findFirefox() {
  const names = process.env.TILEWISE_FIREFOX ? [process.env.TILEWISE_FIREFOX] : ['firefox', 'firefox-esr'];
  return names.find(name => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0);
}

/** Opens a page that posts the result of `work` back to its server. */
async function inFirefox(firefox, scripts, work) {
  const profile = mkdtempSync(join(tmpdir(), 'tilewise-firefox-'));
  const lines = preferences.map(name => `user_pref("${name}", true);\n`);
  writeFileSync(join(profile, 'user.js'), lines.join(''));
  const env = { ...process.env };
  if (process.env.TILEWISE_ADAPTER !== 'hardware') env.VK_DRIVER_FILES = await swiftShaderDriver();
  const { address, posted, close } = await servePage(scripts, work);
  const browser = spawn(firefox, ['--headless', '--no-remote', '--profile', profile, address], {
    env,
    stdio: 'ignore',
  });
  const ended = new Promise(resolve => browser.once('exit', resolve));
  try {
    const { ok, error, userAgent } = await within(120_000, posted);
    if (error) throw new Error(error);
    return `${/Firefox\/([\d.]+)/.exec(userAgent)?.[1]}: ${ok}`;
  } finally {
    browser.kill();
    await ended;
    close();
    rmSync(profile, { recursive: true, force: true });
  }
}

async function servePage(scripts, work) {
  const page = `<!doctype html><meta charset="utf-8"><title>Tilewise</title><script type="module">
const result = await ${work}.catch(error => ({ error: String(error) }));
await fetch('/result', { method: 'POST', body: JSON.stringify({ ...result, userAgent: navigator.userAgent }) });
</script>`;
  let take;
  const posted = new Promise(resolve => {
    take = resolve;
  });
  const server = createServer((request, response) => {
    response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
    response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
    if (request.method === 'POST') {
      let body = '';
      request.on('data', data => {
        body += data;
      });
      request.on('end', () => {
        response.end();
        take(JSON.parse(body));
      });
      return;
    }
    const script = scripts[request.url];
    response.setHeader('Content-Type', script ? 'text/javascript' : 'text/html');
    response.end(script ?? page);
  });
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  return { address: `http://127.0.0.1:${server.address().port}/`, posted, close: () => server.close() };
}

async function within(milliseconds, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no result after ${milliseconds / 1000} s`)), milliseconds);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
