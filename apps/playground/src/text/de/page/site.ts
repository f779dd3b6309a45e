import type { Text } from '../../text.ts';

export const site: Text['site'] = {
  title: 'Tilewise: Flash-Attention, auseinandergenommen',
  needsScript:
    'Alles auf dieser Seite wird in deinem Browser berechnet, und dafür braucht es JavaScript; nichts wird irgendwohin geschickt. Bitte erlaube es, um weiterzugehen.',
  skip: 'Zum Inhalt springen',
  chapters: 'Kapitel',
  chapter: n => `Kapitel ${n}`,
  evaluators: 'Zum Beurteilen',
  done: 'alles gelöst',
  tasksDone: (done, of) => `${done} von ${of} gelöst`,
  copyChapterLink: 'Link zu diesem Kapitel kopieren',
  copyLink: 'Link zu diesem Abschnitt kopieren',
  copied: 'Kopiert',
  next: 'Weiter',
  chapterDocs: 'Dokumentation zu diesem Thema',
  nextChapter: 'Nächstes Kapitel',
  loading: title => `${title} wird geladen …`,
  language: 'Sprache',
  theme: { light: 'Helles Farbschema benutzen', dark: 'Dunkles Farbschema benutzen' },
  boundary: {
    failed: 'Dieses Kapitel ließ sich nicht laden. Ist das Netz da?',
    broke: 'Dieses Kapitel ist mit einem Fehler stehen geblieben. Was du geschrieben hast, bleibt erhalten.',
    again: 'Noch einmal versuchen',
  },
};
