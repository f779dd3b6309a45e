import type { ChapterTexts } from '../../text.ts';

export const train: ChapterTexts['train'] = {
  intro: [
    'Niemand sagt einem Modell, worauf es achten soll: Das lernt es. Hier beginnt ein kleiner Transformer mit zufälligen Gewichten, und diese Seite trainiert ihn. Jeder Schritt führt einen Vorwärtsgraphen, den daraus abgeleiteten Gradientengraphen und AdamW aus. Beide Richtungen verwenden Flash-Attention: einen Kernel vorwärts und drei rückwärts, wie im Kapitel *Rückwärtsdurchlauf*.',
    'Die erste Aufgabe ist ohne Attention nicht lösbar. Das Modell sieht Paare aus einem Buchstaben und einer Ziffer und dann die Buchstaben noch einmal in anderer Reihenfolge: Welche Ziffer gehört zu welchem? Beobachte den Verlust. In etwa fünfzig Schritten fällt er auf 2,3, den Verlust beim Raten. Dann sinkt er nur noch langsam, bis ein Kopf herausfindet, wohin er schauen muss. Von da an fällt er fast auf null.',
  ],
  title: 'Einen Transformer trainieren',
  task: 'Aufgabe',
  tasks: { recall: 'Paare merken', page: 'Der Text dieser Seite', own: 'Ein eigener Text' },
  taskWhy: {
    recall:
      'Nur die Ziffer nach einem wiederholten Buchstaben zählt. Raten ergibt eine Genauigkeit von 10\u00a0%.',
    page: 'Das nächste Zeichen im Text dieser Seite vorhersagen.',
    own: 'Das nächste Zeichen vorhersagen. Dein Text bleibt in diesem Browser und steht nicht in der Adresse der Seite.',
  },
  headCount: 'Köpfe',
  width: 'Breite',
  layers: 'Schichten',
  dropout: 'Dropout',
  seed: 'Seed',
  ownText: 'Dein Text',
  ownPlaceholder: 'Einige Seiten sind besser als einige Zeilen.',
  ownFile: 'Oder eine Textdatei wählen …',
  tooShort: (given, fewest) => `Ein Text braucht mindestens ${fewest} Zeichen; dieser hat ${given}.`,
  start: 'Trainieren',
  pause: 'Pause',
  resume: 'Weiter',
  tenSteps: 'Zehn Schritte',
  startOver: 'Von vorn',
  otherSettings:
    'Der Lauf unten behält die Einstellungen, mit denen er begonnen hat. „Von vorn“ beginnt einen neuen Lauf mit den Einstellungen oben.',
  keptRun: (steps, again, write) =>
    again === steps
      ? `Dieser Browser hat einen Lauf von ${write(steps)} ${steps === 1 ? 'Schritt' : 'Schritten'} gespeichert. „Weiter“ wiederholt ihn mit demselben Ergebnis und fährt dann fort.`
      : `Die gespeicherten Schritte werden wiederholt: noch ${write(again)} von ${write(steps)}.`,
  starting: 'Wird vorbereitet …',
  failed: 'Das Training ist gescheitert:',
  step: 'Schritt',
  loss: 'Verlust, Mittel von 10 Schritten',
  accuracy: 'Genauigkeit, Mittel von 10 Schritten',
  perStep: 'Ein Schritt',
  parameters: 'Parameter',
  lossCurve: 'Verlust: in jedem Schritt (Linie) und auf zurückgehaltenen Sequenzen (Punkte)',
  accuracyCurve: 'Genauigkeit: in jedem Schritt (Linie) und auf zurückgehaltenen Sequenzen (Punkte)',
  sameCurve: (alike, of, write) =>
    alike === of
      ? `Gleicher Seed, gleiche Kurve: ${of === 1 ? 'Der erste Schritt hat' : `Alle ${write(of)} bisherigen Schritte haben`} bis aufs letzte Bit denselben Verlust wie im vorigen Lauf.`
      : `Ab Schritt ${write(alike + 1)} weicht der Verlust vom vorigen Lauf ab: Engines runden verschieden.`,
  looksAt: 'Wohin das Modell schaut',
  looksAtWhy:
    'Jedes Bild ist ein Kopf. Es hat eine Zeile pro Token, und seine Farbe ist dort kräftig, wohin das Token schaut. Am Anfang schaut jedes Token überallhin. Such bei den Paaren den Kopf, in dem ein wiederholter Buchstabe die Ziffer findet, die ihm beim ersten Mal folgte.',
  head: (layer, head) => `Schicht ${layer}, Kopf ${head}`,
  moment: 'Zeitpunkt',
  afterSteps: (steps, write) => `nach ${write(steps)} ${steps === 1 ? 'Schritt' : 'Schritten'}`,
  token: 'Token',
  looks: (token, most, at, share) =>
    `Das Token ${token} achtet am meisten auf ${most}, Position ${at}: ${share}.`,
  ask: 'Das Modell fragen',
  askRecall:
    'Schreib Paare und dann einen der Buchstaben noch einmal. Das Modell antwortet mit der Ziffer, so gut es sie gelernt hat.',
  askText: 'Das Modell setzt fort, was du schreibst, so gut es das gelernt hat.',
  prompt: 'Anfang',
  temperature: 'Temperatur',
  goOn: 'Fortsetzen',
  unknown: characters =>
    `Das Modell hat ${characters.map(one => `„${one}“`).join(', ')} nie gesehen und kann diesen Text deshalb nicht fortsetzen.`,
  right: 'richtig',
  wrong: answer => `richtig wäre ${answer}`,
};
