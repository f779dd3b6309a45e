import { type Language, languages } from '../../text/languages.ts';
import { useFirstText, useLanguage } from '../../text/TextProvider.tsx';

const codes = Object.keys(languages) as Language[];

/** Chooses the language of the page. Each language is offered under its own name. */
export function LanguageSwitch() {
  const text = useFirstText();
  const [language, choose] = useLanguage();
  return (
    <select
      className="language"
      aria-label={text.site.language}
      value={language}
      onChange={event => choose(event.currentTarget.value as Language)}
    >
      {codes.map(code => (
        <option key={code} value={code} lang={code}>
          {languages[code].name}
        </option>
      ))}
    </select>
  );
}
