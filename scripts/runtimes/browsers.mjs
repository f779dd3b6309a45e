import { build } from 'esbuild';
import { openBrowser } from '../../tools/webgpu-host/dist/browser.js';

const entry = `import { smokeCpu, smokeGpu } from './smoke.mjs';
globalThis.smoke = async kind => (kind === 'gpu' ? await smokeGpu() : await smokeCpu());`;

// In a worker or service worker, a message asks for a run.
const answering = `${entry}
addEventListener('message', async ({ data, ports, source }) => {
  const to = ports[0] ?? source ?? globalThis;
  try { to.postMessage({ ok: await smoke(data) }); } catch (error) { to.postMessage({ error: String(error) }); }
});`;

/** The packages in the contexts of a page in Chromium, which is cross-origin isolated. */
export function browserChecks({ folder }) {
  const bundled = async contents => {
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: folder },
      ...{ bundle: true, write: false, format: 'esm', platform: 'browser', logLevel: 'silent' },
    });
    return outputFiles[0].text;
  };
  const inPage = async work => {
    const host = await openBrowser({
      '/page.js': await bundled(entry),
      '/worker.js': await bundled(answering),
    });
    try {
      const result = await host.page.evaluate(work);
      if (result.error) throw new Error(result.error);
      return String(result.ok ?? result);
    } finally {
      await host.close();
    }
  };
  const main = kind => `(async () => { await import('/page.js'); return { ok: await smoke('${kind}') }; })()`;
  const worker = kind =>
    `new Promise(done => { const w = new Worker('/worker.js', { type: 'module' }); w.onmessage = ({ data }) => done(data); w.onerror = e => done({ error: e.message }); w.postMessage('${kind}'); })`;
  const service = kind => `(async () => {
    const registration = await navigator.serviceWorker.register('/worker.js', { type: 'module' });
    await navigator.serviceWorker.ready;
    return new Promise(done => { const { port1, port2 } = new MessageChannel(); port1.onmessage = ({ data }) => done(data); registration.active.postMessage('${kind}', [port2]); });
  })()`;
  const threads = `(async () => { await import('/page.js'); return { ok: crossOriginIsolated ? await smoke('cpu') : Promise.reject(new Error('not isolated')) }; })()`;
  return [
    { where: 'Chromium, main thread', what: 'CPU', run: () => inPage(main('cpu')) },
    { where: 'Chromium, main thread', what: 'WebGPU', run: () => inPage(main('gpu')) },
    { where: 'Chromium, worker', what: 'CPU', run: () => inPage(worker('cpu')) },
    { where: 'Chromium, worker', what: 'WebGPU', run: () => inPage(worker('gpu')) },
    { where: 'Chromium, service worker', what: 'CPU', run: () => inPage(service('cpu')) },
    { where: 'Chromium, service worker', what: 'WebGPU', run: () => inPage(service('gpu')) },
    { where: 'Chromium, cross-origin isolated page', what: 'CPU', run: () => inPage(threads) },
  ];
}
