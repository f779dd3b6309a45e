import type { Text } from '../text.ts';

export const site: Text['site'] = {
  title: 'Tilewise: Flash-Attention, auseinandergenommen',
  heading: 'Flash-Attention, auseinandergenommen',
  blurb:
    'Programmiere eine Maschine mit drei Registern und komm in kleinen Schritten bei den Kernels an, die auf deiner eigenen GPU laufen: vorwärts, rückwärts, mit Dropout und allem.',
  skip: 'Zum Inhalt springen',
  chapters: 'Kapitel',
  chapter: n => `Kapitel ${n}`,
  next: 'Weiter',
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
