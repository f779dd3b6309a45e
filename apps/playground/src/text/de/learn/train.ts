import type { ChapterTexts } from '../../text.ts';

export const train: ChapterTexts['train'] = {
  intro: [
    'Attention wird nicht geschrieben, sie wird gelernt. Hier beginnt ein kleiner Transformer mit zufälligen Gewichten und wird in dieser Seite trainiert: Jeder Schritt führt einen Vorwärtsgraphen aus, den daraus abgeleiteten Gradientengraphen und AdamW, mit Flash-Attention in beiden Richtungen: einem Kernel vorwärts, dreien rückwärts, wie im Kapitel *Rückwärts*.',
    'Die erste Aufgabe ist ohne Attention nicht zu lösen. Paare aus einem Buchstaben und einer Ziffer werden gezeigt, dann die Buchstaben noch einmal, in anderer Reihenfolge: Welche Ziffer gehört zu welchem? Sieh dem Verlust zu: In etwa fünfzig Schritten fällt er auf den des Ratens, 2,3, und kriecht dann nur noch, bis ein Kopf herausfindet, wohin er sehen muss, und fällt auf beinahe nichts.',
  ],
  title: 'Einen Transformer trainieren',
  task: 'Lernen',
  tasks: { recall: 'Paare merken', page: 'Den Text dieser Seite', own: 'Einen eigenen Text' },
  taskWhy: {
    recall:
      'Nur die Ziffer nach einem wiederholten Buchstaben zählt. Raten ergibt eine Genauigkeit von 10 %.',
    page: 'Das nächste Zeichen, überall, in dem, was diese Seite sagt.',
    own: 'Das nächste Zeichen, überall. Der Text bleibt in dieser Seite und steht nicht in ihrer Adresse.',
  },
  headCount: 'Köpfe',
  width: 'Breite',
  layers: 'Schichten',
  dropout: 'Dropout',
  seed: 'Startwert',
  ownText: 'Dein Text',
  ownPlaceholder: 'Einige Seiten sind besser als einige Zeilen.',
  ownFile: 'Oder eine Textdatei wählen…',
  start: 'Trainieren',
  pause: 'Pause',
  resume: 'Weiter',
  tenSteps: 'Zehn Schritte',
  startOver: 'Von vorn',
  otherSettings:
    'Der Lauf unten behält die Einstellungen, mit denen er begann. „Von vorn“ beginnt einen mit den Einstellungen oben.',
  keptRun: (steps, again) =>
    again === steps
      ? `Dieser Browser hat einen Lauf von ${steps} Schritten behalten. „Weiter“ macht sie noch einmal, mit demselben Ergebnis, und fährt fort.`
      : `Behaltene Schritte werden wiederholt: noch ${again} von ${steps}.`,
  starting: 'Wird vorbereitet…',
  failed: 'Es lässt sich nicht trainieren:',
  step: 'Schritt',
  loss: 'Verlust',
  accuracy: 'Genauigkeit',
  perStep: 'Ein Schritt',
  parameters: 'Parameter',
  lossCurve: 'Verlust: jedes Schritts (Linie), auf zurückgehaltenen Folgen (Punkte)',
  accuracyCurve: 'Genauigkeit: jedes Schritts (Linie), auf zurückgehaltenen Folgen (Punkte)',
  sameCurve: (alike, of) =>
    alike === of
      ? `Gleicher Startwert, gleiche Kurve: Alle ${of} Schritte bisher haben genau den Verlust des Laufs davor, bis aufs letzte Bit.`
      : `Der Lauf davor hatte ab Schritt ${alike + 1} einen anderen Verlust: Rechenwerke runden verschieden.`,
  looksAt: 'Wohin es sieht',
  looksAtWhy:
    'Jedes Bild ist ein Kopf: eine Zeile für jedes Token, dunkel, wohin es sieht. Am Anfang sieht jedes Token überallhin; beim Merken von Paaren suche den Kopf, in dem ein wiederholter Buchstabe die Ziffer hinter seinem ersten Platz findet.',
  head: (layer, head) => `Schicht ${layer}, Kopf ${head}`,
  moment: 'Wann',
  afterSteps: steps => `nach ${steps} Schritten`,
  token: 'Token',
  looks: (token, most, at, share) =>
    `Das Token ${token} sieht am meisten auf ${most}, Platz ${at}: ${share}.`,
  ask: 'Frag es',
  askRecall: 'Paare, und ein Buchstabe noch einmal. Es antwortet mit der Ziffer, so gut es das gelernt hat.',
  askText: 'Es setzt fort, was du schreibst, so gut es das gelernt hat.',
  prompt: 'Beginne mit',
  temperature: 'Temperatur',
  goOn: 'Fortsetzen',
  right: 'richtig',
  wrong: answer => `es ist ${answer}`,
};
