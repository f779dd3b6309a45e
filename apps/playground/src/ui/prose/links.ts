/** An address that the build was given, absolute or relative; null if it was given none. */
const given = (address: unknown): string | null =>
  typeof address === 'string' && /^(?:https?:\/\/|\.\.?\/)/.test(address) ? address : null;

/**
 * The addresses of the documentation and the source. A build gets them from `VITE_DOCS_URL` and
 * `VITE_REPOSITORY_URL`.
 */
export const links = {
  docs: given(import.meta.env.VITE_DOCS_URL)?.replace(/\/?$/, '/') ?? null,
  repository: given(import.meta.env.VITE_REPOSITORY_URL),
} as const;
