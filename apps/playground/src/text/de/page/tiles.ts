import type { Text } from '../../text.ts';

export const tiles: Text['tiles'] = {
  row: 'Dieselben Keys als Kacheln: eine Zeile des Gitters, das im nächsten Kapitel vollständig wird.',
  rowLabel: (at, tiles) => `${at} von ${tiles} Key-Kacheln ${at === 1 ? 'ist' : 'sind'} besucht`,
  masked: (tile, skipped, tested, whole) =>
    `Kacheln von ${tile} × ${tile}: ${skipped} übersprungen (gestrichelt), ${tested} Paar für Paar geprüft (blass), ${whole} ohne Prüfung (kräftig).`,
  title: 'Dieselbe Schleife, auf der GPU',
  intro:
    'Hier mündet das Bild der Kacheln in den Kernel. Eine Zeile des Gitters ist eine *Workgroup*. Alle Zeilen laufen gleichzeitig. Jede hat ihre eigene Kachel aus 32 Queries und geht die Key-Kacheln durch. Das Listing ist der Kernel, den die Bibliothek für 32-Bit-Gleitkommazahlen ohne Optionen erzeugt; ein Test hält es aktuell. Drück auf Abspielen und sieh, bei welchen Zeilen das Gitter angekommen ist.',
  walkLabel: j => (j === null ? 'Keine Key-Kachel wird besucht' : `Jede Workgroup besucht Key-Kachel ${j}`),
  source: 'WGSL des Vorwärtskernels',
  phases: {
    tile: {
      title: 'Welche Kachel',
      what: 'Die Nummer der Workgroup bestimmt, welche Queries welches Kopfes ihr gehören.',
    },
    state: { title: 'Der Zustand', what: 'Maximum m, Nenner l und Zähler acc jeder Zeile, in Registern.' },
    loop: { title: 'Die nächsten Keys', what: 'Die Schleife über die Key-Kacheln: dein inneres `FOR`.' },
    scores: {
      title: 'Scores',
      what: 'Q und K gehen durch den Workgroup-Speicher; jede Lane berechnet einen 4 × 4-Block von S.',
    },
    mask: {
      title: 'Skalieren und maskieren',
      what: 'Eine vollständig sichtbare Kachel überspringt die Prüfungen.',
    },
    maximum: { title: 'Das Maximum', what: '`MAX`, über die Lanes, die sich eine Zeile teilen.' },
    weights: { title: 'Die Gewichte', what: '`SUB` und `EXP`: höchstens 1, nie ein Überlauf.' },
    sum: { title: 'Der Nenner', what: 'Mit exp(m − m′) reskaliert, dann kommen die neuen Gewichte dazu.' },
    output: {
      title: 'Der Zähler',
      what: 'Mit demselben Faktor reskaliert, dann kommt P·V dazu. Danach wird P nicht mehr gebraucht.',
    },
    lanes: { title: 'Eine Summe pro Zeile', what: 'Die Lanes einer Zeile summieren ihre Nenner.' },
    store: {
      title: 'Teilen und speichern',
      what: 'Eine Division, ein STORE: O, und lse für den Rückwärtsdurchlauf.',
    },
  },
};
