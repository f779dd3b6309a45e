import type { ReactNode } from 'react';
import { SectionLink } from './SectionLink.tsx';

/**
 * The heading of a section, with a button that copies the link to the section. `id` names both: a section
 * that is labelled by both differs from a region within it that has the heading as its label.
 */
export function SectionTitle({ id, children }: { readonly id: string; readonly children: ReactNode }) {
  return (
    <div id={id} className="section-title">
      <h2>{children}</h2>
      <SectionLink id={id} />
    </div>
  );
}
