import { type DeviceReport, reportJson, reportMarkdown } from '@tilewise/device-report';
import { useState } from 'react';
import { useChapterText } from '../../../text/useChapterText.ts';
import { saveFile } from '../../../ui/controls/save-file.ts';
import { ScrollRegion } from '../../../ui/figures/ScrollRegion.tsx';
import { links } from '../../../ui/prose/links.ts';
import { Reveal } from '../../../ui/prose/Reveal.tsx';
import { Section } from '../../../ui/prose/Section.tsx';

/** The report as Markdown and as JSON, to copy and to save. */
export function ShareReport({ report }: { readonly report: DeviceReport }) {
  const text = useChapterText('doctor');
  const [copied, setCopied] = useState<'yes' | 'no' | null>(null);
  const markdown = reportMarkdown(report);
  const json = reportJson(report);
  const copy = (content: string): void => {
    navigator.clipboard.writeText(content).then(
      () => setCopied('yes'),
      () => setCopied('no'),
    );
  };
  return (
    <Section id="report" title={text.report}>
      <p>{text.reportAbout}</p>
      <div className="toolbar">
        <button type="button" className="button primary" onClick={() => copy(markdown)}>
          {text.copyMarkdown}
        </button>
        <button type="button" className="button" onClick={() => copy(json)}>
          {text.copyJson}
        </button>
        <button type="button" className="button" onClick={() => saveFile('tilewise-report.json', json)}>
          {text.saveJson}
        </button>
        {links.repository && (
          <a className="button" href={`${links.repository}/issues/new`}>
            {text.openIssue}
          </a>
        )}
        <span className="note" role="status">
          {copied && text.copied[copied]}
        </span>
      </div>
      <Reveal summary={text.markdown}>
        <ScrollRegion className="doctor-text" label={text.markdown}>
          <pre lang="en">{markdown}</pre>
        </ScrollRegion>
      </Reveal>
      <Reveal summary={text.json}>
        <ScrollRegion className="doctor-text doctor-json" label={text.json}>
          <pre>{json}</pre>
        </ScrollRegion>
      </Reveal>
    </Section>
  );
}
