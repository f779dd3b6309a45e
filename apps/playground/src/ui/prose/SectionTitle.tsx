import type { ReactNode } from 'react';
import { SectionLink } from './SectionLink.tsx';

/** The heading of a section, with a button that copies the link to the section. */
export function SectionTitle({ id, children }: { readonly id: string; readonly children: ReactNode }) {
  return (
    <div className="section-title">
      <h2 id={id}>{children}</h2>
      <SectionLink id={id} />
    </div>
  );
}
