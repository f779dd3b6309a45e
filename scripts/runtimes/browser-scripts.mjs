import { build } from 'esbuild';

const entry = `import { smokeCpu, smokeGpu } from './smoke.mjs';
globalThis.smoke = async kind => (kind === 'gpu' ? await smokeGpu() : await smokeCpu());`;

// In a worker or service worker, a message starts a run.
const answering = `${entry}
addEventListener('message', async ({ data, ports, source }) => {
  const to = ports[0] ?? source ?? globalThis;
  try { to.postMessage({ ok: await smoke(data) }); } catch (error) { to.postMessage({ error: String(error) }); }
});`;

/** The scripts that the checks' pages load, by path; each contains the project's packages. */
export async function browserScripts(folder) {
  return { '/page.js': await bundled(folder, entry), '/worker.js': await bundled(folder, answering) };
}

async function bundled(folder, contents) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: folder },
    ...{ bundle: true, write: false, format: 'esm', platform: 'browser', logLevel: 'silent' },
  });
  return outputFiles[0].text;
}

// The work of a page, as the source of a promise of `{ ok }` or `{ error }`; `kind` is `cpu` or `gpu`.

export const onMainThread = kind =>
  `(async () => { await import('/page.js'); return { ok: await smoke('${kind}') }; })()`;

export const inWorker = kind =>
  `new Promise(done => { const w = new Worker('/worker.js', { type: 'module' }); w.onmessage = ({ data }) => done(data); w.onerror = e => done({ error: e.message }); w.postMessage('${kind}'); })`;

export const inServiceWorker = kind => `(async () => {
    const registration = await navigator.serviceWorker.register('/worker.js', { type: 'module' });
    await navigator.serviceWorker.ready;
    return new Promise(done => { const { port1, port2 } = new MessageChannel(); port1.onmessage = ({ data }) => done(data); registration.active.postMessage('${kind}', [port2]); });
  })()`;

export const inIsolatedPage = `(async () => { await import('/page.js'); return { ok: crossOriginIsolated ? await smoke('cpu') : Promise.reject(new Error('not isolated')) }; })()`;
