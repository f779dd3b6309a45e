import { useText } from '../../text/TextProvider.tsx';
import { type PaperId, papers } from './references.ts';

/** The papers behind a chapter. */
export function References({ ids }: { readonly ids: readonly PaperId[] }) {
  const { references } = useText();
  return (
    <section className="references" aria-label={references.title}>
      <h2>{references.title}</h2>
      <ul>
        {ids.map(id => (
          <li key={id}>
            <a href={papers[id].href} lang="en">
              {papers[id].cite}
            </a>
            . {references.why[id]}
          </li>
        ))}
      </ul>
    </section>
  );
}
