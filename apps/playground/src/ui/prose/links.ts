/** An address that a build of the page was given, whole or relative; null where the build was given none. */
const given = (address: unknown): string | null =>
  typeof address === 'string' && /^(?:https?:\/\/|\.\.?\/)/.test(address) ? address : null;

/**
 * Where the documentation and the source are. A build names them by `VITE_DOCS_URL` and
 * `VITE_REPOSITORY_URL`.
 */
export const links = {
  docs: given(import.meta.env.VITE_DOCS_URL)?.replace(/\/?$/, '/') ?? null,
  repository: given(import.meta.env.VITE_REPOSITORY_URL),
} as const;
