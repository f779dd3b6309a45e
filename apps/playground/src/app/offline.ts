/**
 * How long after the page has loaded the rest is downloaded, in milliseconds: nobody's first chapter waits for
 * that download.
 */
const delay = 4000;

/**
 * Keeps the page for times without a network: a service worker answers from what it has kept, and is asked to
 * keep the rest when the page has been there for a while. Visitors who save data are spared that.
 */
export function keepForOffline(): void {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  const saves =
    'connection' in navigator && (navigator.connection as { saveData?: boolean }).saveData === true;
  window.addEventListener('load', () => {
    setTimeout(async () => {
      // Where it is forbidden, the page works as before.
      const registration = await navigator.serviceWorker.register('./sw.js').catch(() => null);
      if (!registration || saves) return;
      const { active } = await navigator.serviceWorker.ready;
      active?.postMessage('keep');
    }, delay);
  });
}
