/** Everyday words for sentences that a reader can follow and that a compressor cannot foresee. */

export const ADJECTIVES =
  "narrow patient wooden northern stubborn quiet borrowed second hollow crowded careful rusty distant ordinary bright forgotten steep cheap early honest salted uneven private sudden modest foreign polished tired local unpaid heavy famous broken generous damp clever official painted missing warm annual careless silver public slow bitter electric remote youngest ancient hurried certain faulty grey spare loyal printed open tidal violent tidy rural costly useful hidden loose formal thin northern-facing unlucky temporary gentle retired coastal sealed rival cautious brick shallow unsigned winter sensible foggy joint idle brave plain hourly fragile lengthy common swift copper silent restless tiny complete awkward vacant curious handmade frozen sturdy".split(
    " ",
  );

export const NOUNS =
  "lighthouse ledger ferry committee orchard kitchen turbine anchor notebook bakery tenant glacier harvest siren cellar engine pilgrim market bridge barometer curtain voyage receipt teacher gravel hospital compass rumour lantern contract chimney freight window clerk pasture satellite drawer bicycle meadow captain library kettle verdict village basket tunnel surgeon timetable cannery weather-vane mirror pension fog-horn signal wharf apprentice census carpet reservoir violin customs-officer antenna ceiling harbour parcel tailor quarry referee workshop blanket minister spring-tide battery rooftop neighbour archive cargo pavement beekeeper platform survey chapel motor inspector lawn envelope warehouse drummer telescope vineyard passport gallery thermometer widow crane election mast photograph roof-tile corridor mechanic herring staircase budget garden pilot donkey factory sermon cyclist trophy boiler auction lifeboat diary goalkeeper submarine tower grandfather cable theatre suitcase sawmill prosecutor island postcard ladder choir magnet fisherman proposal kiosk barn landlord typewriter moth dentist sand-bank uniform hotel microscope accountant rope printer cinema pharmacist path translator brewery zoo courtyard recipe balcony sculptor tram guard estuary bandstand".split(
    " ",
  );

export const VERBS =
  "repaired inherited measured refused painted counted borrowed hid answered sold emptied copied opened defended photographed crossed weighed mended questioned followed buried praised shut ignored carried guarded signed rebuilt lost auctioned watched renamed blamed described lifted inspected returned flooded swapped warned drew rented visited found postponed remembered shared swept doubted delivered designed cancelled lit invited paid taught missed moved broke registered tested trusted sank numbered filmed forgave heard kept divided rang stole left recorded climbed outlived restored hired ordered won printed".split(
    " ",
  );

export const ADVERBS =
  "twice; by hand; before breakfast; without a permit; in the rain; for the insurance; at low tide; on a Tuesday; out of habit; by mistake; in good faith; at their own cost; all the same; for a bet; in broad daylight; one winter; against advice; after the war; in plain sight; by torchlight; for nothing; every spring; in two languages; with some pride; once too often; on the radio; under oath; overnight; in the end; by post; at half price; on foot".split(
    "; ",
  );

/** `%a` an adjective, `%o` a noun, `%v` a verb, `%d` an adverb; the rest as in the news vocabulary. */
export const CLAUSES = [
  "The %a %o %v the %o %d",
  "A %o in %l %v its %a %o",
  "%P %v the %a %o, and the %o %v her %d",
  "No %o has %v a %o since the %a %o of %l was closed",
  "Somebody %v the %o %d, which the %a %o denied",
  "For %n years a %a %o %v every %o between %l and the sea",
  "The %o was %a, the %o %a, and neither of them was %v",
  "Where the %o stood there is a %o now, %a and %v %d",
  "Two %a neighbours %v a %o that the %o had %v before",
  "“A %o is only as good as its %o,” says %P, who %v one %d",
  "It cost the %o a %a %o and %n hours to see what %l %v",
  "What the %a %o %v, the %o of %l %v %d",
];

/** Join two clauses. */
export const JOINTS = ["; ", ", while ", ", although ", ", because ", ". Then ", ", as if ", ", so ", ". Still, "];
