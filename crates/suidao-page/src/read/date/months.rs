//! Names of months, a language a row. Data apart from the rules that use it: a language more is a row more.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

/// The months in order, separated by `|`; of each the names and abbreviations that stand beside a day, in lower case.
const NAMES: [&str; 24] = [
    // English
    "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sep sept|october oct|november nov|december dec",
    // German
    "januar jänner jän|februar feber feb|märz marz maerz mär mrz|april apr|mai|juni jun|juli jul|august aug|september sep sept|oktober okt|november nov|dezember dez",
    // French
    "janvier janv|février fevrier févr fév fevr|mars|avril avr|mai|juin|juillet juil|août aout|septembre sept|octobre oct|novembre nov|décembre decembre déc",
    // Spanish
    "enero ene|febrero feb|marzo mar|abril abr|mayo may|junio jun|julio jul|agosto ago|septiembre setiembre sep sept|octubre oct|noviembre nov|diciembre dic",
    // Italian
    "gennaio gen|febbraio feb|marzo mar|aprile apr|maggio mag|giugno giu|luglio lug|agosto ago|settembre set sett|ottobre ott|novembre nov|dicembre dic",
    // Portuguese
    "janeiro jan|fevereiro fev|março marco mar|abril abr|maio mai|junho jun|julho jul|agosto ago|setembro set|outubro out|novembro nov|dezembro dez",
    // Catalan
    "gener|febrer|març|abril|maig|juny|juliol|agost|setembre|octubre|novembre|desembre",
    // Dutch
    "januari jan|februari feb|maart mrt|april apr|mei|juni jun|juli jul|augustus aug|september sep|oktober okt|november nov|december dec",
    // Polish
    "stycznia styczeń sty|lutego luty lut|marca marzec mar|kwietnia kwiecień kwi|maja maj|czerwca czerwiec cze|lipca lipiec lip|sierpnia sierpień sie|września wrzesień wrz|października październik paź|listopada listopad lis|grudnia grudzień gru",
    // Czech and Slovak
    "ledna leden januára|února únor februára|března březen marca|dubna duben apríla|května květen mája|června červen júna|července červenec júla|srpna srpen augusta|září septembra|října říjen októbra|listopadu novembra|prosince prosinec decembra",
    // Turkish
    "ocak oca|şubat şub subat|mart|nisan nis|mayıs mayis|haziran haz|temmuz tem|ağustos agustos ağu|eylül eylul eyl|ekim eki|kasım kasim kas|aralık aralik ara",
    // Greek
    "ιανουαρίου ιανουάριος ιαν|φεβρουαρίου φεβρουάριος φεβ|μαρτίου μάρτιος μαρ|απριλίου απρίλιος απρ|μαΐου μαϊου μάιος μαι|ιουνίου ιούνιος ιουν|ιουλίου ιούλιος ιουλ|αυγούστου αύγουστος αυγ|σεπτεμβρίου σεπτέμβριος σεπ|οκτωβρίου οκτώβριος οκτ|νοεμβρίου νοέμβριος νοε|δεκεμβρίου δεκέμβριος δεκ",
    // Russian
    "января январь янв|февраля февраль фев|марта март мар|апреля апрель апр|мая май|июня июнь июн|июля июль июл|августа август авг|сентября сентябрь сен сент|октября октябрь окт|ноября ноябрь ноя|декабря декабрь дек",
    // Ukrainian
    "січня|лютого|березня|квітня|травня|червня|липня|серпня|вересня|жовтня|листопада|грудня",
    // Bulgarian
    "януари|февруари|март|април|май|юни|юли|август|септември|октомври|ноември|декември",
    // Swedish, Danish, Norwegian
    "januari januar|februari februar|mars marts|april|maj mai|juni|juli|augusti august|september|oktober|november|december desember",
    // Finnish
    "tammikuuta tammikuu|helmikuuta helmikuu|maaliskuuta maaliskuu|huhtikuuta huhtikuu|toukokuuta toukokuu|kesäkuuta kesäkuu|heinäkuuta heinäkuu|elokuuta elokuu|syyskuuta syyskuu|lokakuuta lokakuu|marraskuuta marraskuu|joulukuuta joulukuu",
    // Hungarian
    "január|február|március|április|május|június|július|augusztus|szeptember|október|november|december",
    // Romanian
    "ianuarie ian|februarie|martie|aprilie|mai|iunie iun|iulie iul|august|septembrie|octombrie|noiembrie|decembrie",
    // Croatian, Serbian, Slovenian
    "siječnja januara januarja|veljače februara februarja|ožujka|travnja aprila|svibnja|lipnja juna junija|srpnja jula julija|kolovoza avgusta|rujna|listopada oktobra|studenoga novembra|prosinca decembra",
    // Indonesian and Malay
    "januari|februari|maret mac|april|mei|juni jun|juli julai|agustus agt ogos|september|oktober okt|november|desember des disember",
    // Arabic
    "يناير|فبراير|مارس|أبريل ابريل إبريل|مايو|يونيو يونيه|يوليو يوليه|أغسطس اغسطس|سبتمبر|أكتوبر اكتوبر|نوفمبر|ديسمبر",
    // Hebrew
    "בינואר ינואר|בפברואר פברואר|במרץ מרץ|באפריל אפריל|במאי מאי|ביוני יוני|ביולי יולי|באוגוסט אוגוסט|בספטמבר ספטמבר|באוקטובר אוקטובר|בנובמבר נובמבר|בדצמבר דצמבר",
    // Hindi
    "जनवरी|फरवरी फ़रवरी|मार्च|अप्रैल|मई|जून|जुलाई|अगस्त|सितंबर सितम्बर|अक्टूबर|नवंबर नवम्बर|दिसंबर दिसम्बर",
];

static MONTHS: LazyLock<FxHashMap<&'static str, u8>> = LazyLock::new(|| {
    let rows = NAMES.iter().flat_map(|row| (1u8..).zip(row.split('|')));
    let mut months = FxHashMap::default();
    for (month, name) in rows.flat_map(|(month, names)| names.split(' ').map(move |name| (month, name))) {
        // A name that two languages give to different months (`listopada`) is the first one's.
        months.entry(name).or_insert(month);
    }
    months
});

/// The month of this name, in lower case.
pub(super) fn month(name: &str) -> Option<u8> {
    MONTHS.get(name).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_twelve_months() {
        for row in NAMES {
            assert_eq!(row.split('|').count(), 12, "{row}");
            assert_eq!(row.to_lowercase(), row);
        }
        assert_eq!((month("august"), month("août"), month("июня"), month("maybe")), (Some(8), Some(8), Some(6), None));
    }
}
