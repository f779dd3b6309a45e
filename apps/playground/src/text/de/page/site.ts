import type { Text } from '../../text.ts';

export const site: Text['site'] = {
  title: 'Tilewise: Flash-Attention, auseinandergenommen',
  needsScript:
    'Alles auf dieser Seite wird mit JavaScript in deinem Browser berechnet; nichts wird übertragen. Bitte aktiviere JavaScript, um fortzufahren.',
  skip: 'Zum Inhalt springen',
  chapters: 'Kapitel',
  chapter: n => `Kapitel ${n}`,
  evaluators: 'Zur Beurteilung',
  done: 'alles gelöst',
  tasksDone: (done, of) => `${done} von ${of} gelöst`,
  copyChapterLink: 'Link zu diesem Kapitel kopieren',
  copyLink: 'Link zu diesem Abschnitt kopieren',
  copied: 'Kopiert',
  next: 'Weiter',
  chapterDocs: 'Dokumentation zu diesem Thema',
  nextChapter: 'Nächstes Kapitel',
  loading: title => `${title} wird geladen …`,
  noSuchPage: name => `Es gibt keine Seite „${name}“. Dies ist die erste Seite; sie führt zu allen Kapiteln.`,
  language: 'Sprache',
  theme: { light: 'Helles Farbschema verwenden', dark: 'Dunkles Farbschema verwenden' },
  boundary: {
    failed: 'Dieses Kapitel ließ sich nicht laden. Besteht eine Internetverbindung?',
    broke: 'Dieses Kapitel wurde durch einen Fehler unterbrochen. Was du geschrieben hast, bleibt erhalten.',
    again: 'Noch einmal versuchen',
  },
};
