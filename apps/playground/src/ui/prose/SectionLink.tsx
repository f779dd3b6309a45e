import { useState } from 'react';
import { parsePlace, placeHash, usePlace } from '../../state/url-state.ts';
import { useFirstText } from '../../text/TextProvider.tsx';

/**
 * Copies the address of a section, with the chapter's current settings. Without a section, it copies the
 * address of the chapter's page with a preview for other sites.
 */
export function SectionLink({ id = null }: { readonly id?: string | null }) {
  const { site } = useFirstText();
  const place = usePlace();
  const [copied, setCopied] = useState(false);
  const hash = placeHash({ ...place, state: id === null ? place.state : { ...place.state, section: id } });
  const shared = id === null && import.meta.env.PROD ? `share/${place.chapter}/` : null;
  const copy = (): void => {
    const { origin, pathname, search } = window.location;
    const folder = pathname.replace(/[^/]*$/, '');
    navigator.clipboard
      .writeText(shared ? `${origin}${folder}${shared}` : `${origin}${pathname}${search}${hash}`)
      .then(
        () => setCopied(true),
        // Without a clipboard, the visitor can still copy the address itself.
        () => window.history.replaceState(null, '', placeHash(parsePlace(hash))),
      );
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <button
      type="button"
      className="section-link"
      aria-label={id === null ? site.copyChapterLink : site.copyLink}
      onClick={copy}
    >
      <span aria-hidden="true">#</span>
      <span role="status">{copied && site.copied}</span>
    </button>
  );
}
