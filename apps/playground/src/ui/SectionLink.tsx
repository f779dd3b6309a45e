import { useState } from 'react';
import { parsePlace, placeHash, usePlace } from '../app/url-state.ts';
import { useFirstText } from '../text/TextProvider.tsx';

/** Copies the address of a section, with what is set in the chapter. */
export function SectionLink({ id }: { readonly id: string }) {
  const { site } = useFirstText();
  const place = usePlace();
  const [copied, setCopied] = useState(false);
  const hash = placeHash({ ...place, state: { ...place.state, section: id } });
  const copy = (): void => {
    const { origin, pathname, search } = window.location;
    navigator.clipboard.writeText(`${origin}${pathname}${search}${hash}`).then(
      () => setCopied(true),
      // Without a clipboard the address itself can be copied.
      () => window.history.replaceState(null, '', placeHash(parsePlace(hash))),
    );
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <button type="button" className="section-link" aria-label={site.copyLink} onClick={copy}>
      <span aria-hidden="true">#</span>
      <span role="status">{copied && site.copied}</span>
    </button>
  );
}
